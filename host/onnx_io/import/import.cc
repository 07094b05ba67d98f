#include "host/onnx_io/import/import.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "host/base/files/containment/hub_cache.h"
#include "host/base/files/file.h"
#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/thrown.h"
#include "host/graph/checks.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"
#include "host/graph/topology.h"
#include "host/onnx_io/import/arena_options.h"
#include "host/onnx_io/import/graph_import.h"
#include "host/onnx_io/import/value_types.h"
#include "host/onnx_io/inference/infer.h"
#include "host/onnx_io/opsets/opset18_25_fields.h"

namespace ephost::onnx_io {
namespace {

using graph::invalid_graph;
using graph::Model;

// Allocates memory in blocks, and refuses further blocks once it is cancelled: parsing cannot be
// interrupted in any other way.
class CancellableStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  CancellableStream(const std::string& bytes, const Cancellation& cancellation)
      : stream_(bytes.data(), static_cast<int>(bytes.size()), kPieceBytes),
        cancellation_(cancellation) {}

  bool Next(const void** data, int* size) override {
    return !cancellation_.is_requested() && stream_.Next(data, size);
  }
  void BackUp(int count) override { stream_.BackUp(count); }
  bool Skip(int count) override { return stream_.Skip(count); }
  int64_t ByteCount() const override { return stream_.ByteCount(); }

 private:
  static constexpr int kPieceBytes = 1 << 20;
  google::protobuf::io::ArrayInputStream stream_;
  const Cancellation& cancellation_;
};

Status parse_model(const std::string& skeleton, const Cancellation& cancellation,
                   onnx::ModelProto& proto) {
  if (skeleton.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return {StatusCode::kInvalidProtobuf,
            formatted("the model's structure has {} bytes without its weights, "
                      "but protobuf supports at most 2 GiB",
                      skeleton.size())};
  }
  CancellableStream stream(skeleton, cancellation);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kRecursionLimit);
  const bool parses = proto.ParsePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  if (!parses) {
    return {StatusCode::kInvalidProtobuf, "not an ONNX model, or a damaged one: it does not parse"};
  }
  if (!proto.has_graph()) {
    return {StatusCode::kInvalidProtobuf, "not an ONNX model: it has no graph"};
  }
  return Status::ok_status();
}

Status import_opsets(const onnx::ModelProto& proto, Model& model) {
  for (const onnx::OperatorSetIdProto& import : proto.opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    if (import.version() < 1 || import.version() > std::numeric_limits<int32_t>::max()) {
      return invalid_graph(formatted("opset version {} of domain {} does not exist",
                                     import.version(), quote(domain)));
    }
    if (!model.opset_imports.emplace(domain, import.version()).second) {
      return invalid_graph(formatted("domain {} is imported twice", quote(domain)));
    }
  }
  // IR version 3 introduced opsets; before, there was only one.
  if (model.ir_version < 3) model.opset_imports.emplace("", 1);
  if (model.opset_imports.empty()) return invalid_graph("the model does not import an opset");
  return Status::ok_status();
}

void find_opsets(const Model& model, ImportContext& context) {
  for (const auto& [domain, version] : model.opset_imports) {
    const OpsetKnowledge knowledge = opset_knowledge(domain, version);
    context.opsets[domain] = {.version = version, .knowledge = knowledge};
    if (knowledge == OpsetKnowledge::kNewer) {
      context.notes.add(formatted(
          "opset {} of domain {} is newer than this build supports; its nodes are not checked",
          version, quote(domain.empty() ? "ai.onnx" : domain)));
    }
  }
}

Status import_metadata(const onnx::ModelProto& proto, Model& model) {
  std::unordered_set<std::string_view> keys;
  for (const onnx::StringStringEntryProto& entry : proto.metadata_props()) {
    if (!keys.insert(entry.key()).second) {
      return invalid_graph(formatted("metadata key {} occurs twice", quote(entry.key())));
    }
    model.metadata.emplace_back(entry.key(), entry.value());
  }
  return Status::ok_status();
}

Status import_header(const onnx::ModelProto& proto, Model& model) {
  if (!proto.has_ir_version() || proto.ir_version() < 1) {
    return invalid_graph("the model has no valid IR version");
  }
  model.ir_version = proto.ir_version();
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.domain = proto.domain();
  model.model_version = proto.model_version();
  model.doc = proto.doc_string();
  return import_metadata(proto, model);
}

Status import_functions(const onnx::ModelProto& proto, FunctionNames& names, Model& model) {
  for (const onnx::FunctionProto& function : proto.functions()) {
    const std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
    const std::string overload = overload_of(function);
    if (!names.emplace(domain, function.name(), overload).second) {
      return invalid_graph(
          formatted("function {} of domain {}{} is defined twice", quote(function.name()),
                    quote(domain), overload.empty() ? "" : ", overload " + quote(overload) + ","));
    }
    model.functions.push_back({.domain = domain,
                               .name = function.name(),
                               .overload = overload,
                               .serialized = function.SerializeAsString()});
  }
  return Status::ok_status();
}

Result<Model> convert(const graph::Blob& bytes, ExternalData& external,
                      const ImportOptions& options, Notes& notes, ImportReport& report) {
  const Cancellation& cancellation = options.cancellation;
  EPHOST_ASSIGN_OR_RETURN(const Skeleton skeleton, lift_payloads(bytes.bytes, cancellation));
  google::protobuf::Arena arena(arena_options());
  auto& proto = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  EPHOST_RETURN_IF_ERROR(parse_model(skeleton.bytes, cancellation, proto));

  Model model;
  EPHOST_RETURN_IF_ERROR(import_header(proto, model));
  EPHOST_RETURN_IF_ERROR(import_opsets(proto, model));
  TensorImporter tensors(skeleton, bytes.owner, external);
  EPHOST_ASSIGN_OR_RETURN(const ResolvedDimensions dimensions,
                          resolve_dimensions(options.dimension_overrides, *proto.mutable_graph()));
  DimSymbols symbols(model.symbols, dimensions.sizes);
  NodeChecker checker(model.ir_version, model.opset_imports);
  FunctionNames functions;
  EPHOST_RETURN_IF_ERROR(import_functions(proto, functions, model));
  InitializerReplacement replacement(options.initializers);
  ImportContext context{.tensors = tensors,
                        .symbols = symbols,
                        .notes = notes,
                        .checker = checker,
                        .ir_version = model.ir_version,
                        .functions = functions,
                        .replacement = &replacement,
                        .max_dense_bytes = options.max_dense_bytes,
                        .cancellation = cancellation};
  find_opsets(model, context);
  if (proto.training_info_size() > 0) notes.add("training information is dropped");
  EPHOST_ASSIGN_OR_RETURN(model.graph, import_graph(*proto.mutable_graph(), context));
  std::set<std::string> names = symbols.sized_names();
  names.insert(model.symbols.begin(), model.symbols.end());
  report.without_effect = describe_unused(options.dimension_overrides, dimensions, names);
  EPHOST_RETURN_IF_ERROR(replacement.finish(proto.graph(), report.without_effect));
  report.given_initializers = std::move(replacement).take_used();
  graph::connect(model.graph);
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  EPHOST_RETURN_IF_ERROR(graph::sort_topologically(model.graph));
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  EPHOST_RETURN_IF_ERROR(graph::check_graph(model.graph));
  return model;
}

// The external data in the given folder, or else in the folder of `file`, which is null for a model
// from memory.
ExternalData find_external_data(const MappedFile* file, const ImportOptions& options) {
  const std::filesystem::path& given = options.external_data_dir;
  if (!given.empty()) return {given, options.external_files, hub_folders_of(given)};
  if (file == nullptr) return {std::nullopt, options.external_files};
  const std::optional<MappedRange> mapped = find_mapped_range(file->bytes());
  return {file->path().parent_path(), options.external_files,
          linked_folders_of(file->path(), mapped ? mapped->file : FileVersion())};
}

Result<Model> import_from(const graph::Blob& bytes, const MappedFile* file,
                          const ImportOptions& options, ImportReport* report) {
  try {
    ExternalData external = find_external_data(file, options);
    Notes notes;
    ImportReport read;
    EPHOST_ASSIGN_OR_RETURN(Model model, convert(bytes, external, options, notes, read));
    read.notes = std::move(notes).take();
    if (options.align_initializers) align_initializers(model);
    if (options.infer_shapes) {
      for (std::string& note : infer_shapes(model, options.cancellation, options.open_shapes)) {
        read.notes.push_back(std::move(note));
      }
    }
    EPHOST_RETURN_IF_ERROR(options.cancellation.check());
    read.model = bytes;
    read.external_data = external.contents();
    read.read_external_data = external.read();
    read.unchecked_external_data = external.unchecked();
    if (report) *report = std::move(read);
    return model;
  } catch (const std::exception& failure) {
    // Protobuf and onnx throw exceptions; a model that demands too much memory causes
    // std::bad_alloc.
    return Status(status_of_thrown(failure).code(),
                  std::string("importing failed: ") + failure.what());
  }
}

void align_in(graph::Graph& graph) {
  for (graph::Tensor& tensor : graph.initializers) align_data(tensor);
  for (graph::Node& node : graph.nodes) graph::for_each_subgraph(node, &align_in);
}

}  // namespace

void align_initializers(Model& model) { align_in(model.graph); }

Result<Model> import_model(const graph::Blob& bytes, const ImportOptions& options,
                           ImportReport* report) {
  return import_from(bytes, nullptr, options, report);
}

Result<Model> import_model(const std::filesystem::path& path, const ImportOptions& options,
                           ImportReport* report) {
  EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  return import_model(std::make_shared<const MappedFile>(std::move(file)), options, report);
}

Result<Model> import_model(const std::shared_ptr<const MappedFile>& file,
                           const ImportOptions& options, ImportReport* report) {
  Result<Model> model =
      import_from({.bytes = file->bytes(), .owner = file}, file.get(), options, report);
  if (model.ok()) return model;
  return std::move(model).status().with_context("importing " + quote(file->path().native()));
}

}  // namespace ephost::onnx_io
