#include "host/conformance/contexts/compiled.h"

#include <ephost/compile_model.h>
#include <onnx/onnx_pb.h>

#include <span>
#include <string_view>

#include "host/context/ep_context_node.h"
#include "host/context/metadata.h"

namespace ephost::conformance {
namespace {

Status not_a_model() {
  return Status(StatusCode::kFail, "the context model of the host cannot be parsed");
}

onnx::AttributeProto* attribute(onnx::NodeProto& node, std::string_view name) {
  for (onnx::AttributeProto& one : *node.mutable_attribute()) {
    if (one.name() == name) return &one;
  }
  return nullptr;
}

// Calls `function` with the name of the partition and the payload of each primary node.
template <class Function>
void for_each_payload(onnx::ModelProto& model, const Function& function) {
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    if (node.op_type() != context::kEpContextOpType) continue;
    const onnx::AttributeProto* const main = attribute(node, "main_context");
    if (main != nullptr && main->i() == 0) continue;
    onnx::AttributeProto* const payload = attribute(node, "ep_cache_context");
    const onnx::AttributeProto* const name = attribute(node, "partition_name");
    if (payload != nullptr && name != nullptr) function(name->s(), *payload->mutable_s());
  }
}

context::MetadataList metadata_of(const onnx::ModelProto& model) {
  context::MetadataList list;
  for (const auto& entry : model.metadata_props()) list.emplace_back(entry.key(), entry.value());
  return list;
}

void set_metadata(onnx::ModelProto& model, const context::MetadataList& list) {
  model.clear_metadata_props();
  for (const auto& [key, value] : list) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
}

}  // namespace

Result<Compiled> compile(const Bench& bench, const std::string& model) {
  std::vector<std::byte> bytes;
  ModelCompilationOptions compilation;
  compilation.input_model_buffer = std::as_bytes(std::span(model));
  compilation.output_model_buffer = &bytes;
  compilation.ep_context_embed_mode = true;
  compilation.error_if_no_nodes_compiled = true;
  EPHOST_RETURN_IF_ERROR(compile_model(bench.environment(), bench.options(), compilation).status());
  Compiled compiled;
  compiled.model.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  onnx::ModelProto proto;
  if (!proto.ParseFromString(compiled.model)) return not_a_model();
  for_each_payload(proto, [&](const std::string& name, const std::string& payload) {
    compiled.payloads[name] = payload;
  });
  EPHOST_ASSIGN_OR_RETURN(const auto metadata, context::read_metadata(metadata_of(proto)));
  for (const auto* texts : {&metadata.compatibility, &metadata.payload_compatibility}) {
    compiled.compatibility.insert(compiled.compatibility.end(), texts->begin(), texts->end());
  }
  if (!compiled.payloads.empty()) return compiled;
  return Status(StatusCode::kFail, "the provider writes no context of the model");
}

Result<std::string> with_payloads(const std::string& context_model,
                                  const std::map<std::string, std::string>& payloads) {
  onnx::ModelProto model;
  if (!model.ParseFromString(context_model)) return not_a_model();
  context::MetadataList list = metadata_of(model);
  EPHOST_ASSIGN_OR_RETURN(context::ContextMetadata metadata, context::read_metadata(list));
  for_each_payload(model, [&](const std::string& name, std::string& payload) {
    const auto found = payloads.find(name);
    if (found == payloads.end()) return;
    payload = found->second;
    metadata.embedded[name] = {content_checksum(std::as_bytes(std::span(payload))), payload.size()};
  });
  context::write_metadata(metadata, list);
  set_metadata(model, list);
  return model.SerializeAsString();
}

Result<std::string> with_compatibility(const std::string& context_model, const std::string& text) {
  onnx::ModelProto model;
  if (!model.ParseFromString(context_model)) return not_a_model();
  context::MetadataList list = metadata_of(model);
  EPHOST_ASSIGN_OR_RETURN(context::ContextMetadata metadata, context::read_metadata(list));
  for (auto* texts : {&metadata.compatibility, &metadata.payload_compatibility}) {
    for (auto& [of, stated] : *texts) stated = text;
  }
  context::write_metadata(metadata, list);
  set_metadata(model, list);
  return model.SerializeAsString();
}

std::vector<CompiledSample> need_compiled(const Bench& bench, const SampleRequest& request,
                                          Report& report) {
  std::vector<CompiledSample> found;
  for (Sample& sample : find_samples(bench, request)) {
    Result<Compiled> compiled = compile(bench, sample.model);
    if (compiled.ok()) found.push_back({std::move(sample), std::move(*compiled)});
  }
  if (found.empty())
    report.leave_out("the provider writes no contexts of the models that were tried");
  return found;
}

}  // namespace ephost::conformance
