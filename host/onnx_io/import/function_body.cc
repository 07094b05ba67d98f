#include "host/onnx_io/import/function_body.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/checks.h"
#include "host/graph/connect.h"
#include "host/graph/extract.h"
#include "host/graph/subgraphs.h"
#include "host/graph/topology.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/drop_symbolic_dims.h"
#include "host/onnx_io/inference/node_proto.h"
#include "host/onnx_io/opsets/operator_schemas.h"

namespace ephost::onnx_io {
namespace {

using graph::FunctionBody;
using graph::Graph;
using graph::invalid_graph;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;

// Whether a node of one definition may be read by the other. If everything that it declares has the
// same names and defaults, newer definitions only add types. (A changed meaning came with a changed
// default.)
bool have_the_same_meaning(const onnx::OpSchema& a, const onnx::OpSchema& b) {
  if (a.SinceVersion() == b.SinceVersion()) return true;
  const auto same_parameters = [](const auto& left, const auto& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const auto& one, const auto& other) {
                        return one.GetName() == other.GetName() &&
                               one.GetOption() == other.GetOption();
                      });
  };
  const auto same_attribute = [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.type == other.second.type &&
           one.second.required == other.second.required &&
           one.second.default_value.SerializeAsString() ==
               other.second.default_value.SerializeAsString();
  };
  return same_parameters(a.inputs(), b.inputs()) && same_parameters(a.outputs(), b.outputs()) &&
         std::equal(a.attributes().begin(), a.attributes().end(), b.attributes().begin(),
                    b.attributes().end(), same_attribute);
}

// Exports the node with its subgraphs; `captures` receives the names under which these capture
// values of its graph.
Status export_with_subgraphs(const graph::Model& model, const Graph& graph, NodeId id,
                             onnx::NodeProto& out,
                             std::map<std::string, graph::ValueId>& captures) {
  graph::Extraction single = graph::extract_subgraph(graph, std::vector{id}, "call");
  for (const graph::ValueId captured : single.graph.nodes.front().implicit_inputs) {
    const graph::ValueId original = single.original_values[captured];
    std::string name = formatted("captured by the call #{}", original);
    captures.emplace(name, original);
    single.graph.values[captured].name = std::move(name);
  }
  const graph::Model exported{.graph = std::move(single.graph),
                              .ir_version = model.ir_version,
                              .opset_imports = model.opset_imports,
                              .symbols = model.symbols};
  EPHOST_ASSIGN_OR_RETURN(const ExportedModel file, export_model(exported));
  const std::vector<std::byte> bytes = file.model.to_bytes();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kRecursionLimit);
  onnx::ModelProto proto;
  if (!proto.ParseFromCodedStream(&coded) || proto.graph().node_size() != 1) {
    return invalid_graph("it is too large or too deep to be inlined");
  }
  out = proto.graph().node(0);
  return Status::ok_status();
}

// Imports the function of one call as a graph.
class BodyImport {
 public:
  BodyImport(const FunctionTable& functions, const FunctionNames& names, const graph::Model& model,
             const Graph& graph, NodeId id)
      : functions_(functions),
        names_(names),
        model_(model),
        graph_(graph),
        id_(id),
        node_(graph.nodes[id]) {}

  Result<FunctionBody> run() {
    export_node(node_, model_.symbols, call_proto_);
    const auto local = functions_.find(callee_of(node_));
    if (local != functions_.end()) {
      function_ = local->second.proto;
      for (const onnx::AttributeProto& preset : local->second.defaults) {
        defaults_.emplace(preset.name(), &preset);
      }
      // A function names the opsets of its nodes; for an omitted domain, the model's opset applies.
      body_.opset_imports = model_.opset_imports;
    } else {
      EPHOST_RETURN_IF_ERROR(build_operator_function());
    }
    return import();
  }

 private:
  Status build_operator_function() {
    const onnx::OpSchema* schema = find_schema(node_.domain, node_.op_type, node_.since_version);
    if (schema == nullptr) return no_body();
    EPHOST_RETURN_IF_ERROR(verify_against(*schema, call_proto_));
    for (const auto& [name, attribute] : schema->attributes()) {
      const onnx::AttributeProto& preset = attribute.default_value;
      if (preset.type() != onnx::AttributeProto::UNDEFINED) defaults_.emplace(name, &preset);
    }
    if (schema->HasFunction()) {
      function_ = *schema->GetFunction();
    } else {
      if (graph::has_subgraphs(node_)) {
        EPHOST_RETURN_IF_ERROR(export_with_subgraphs(model_, graph_, id_, call_proto_, captures_));
      }
      std::vector<onnx::TypeProto> types;
      for (const graph::ValueId input : node_.inputs) {
        onnx::TypeProto& type = types.emplace_back();
        if (input != kNoValue) export_type(graph_.values[input].type, model_.symbols, type);
      }
      const onnx::FunctionBodyBuildContextImpl context(call_proto_, types);
      if (!schema->HasContextDependentFunction() ||
          !schema->BuildContextDependentFunction(context, function_)) {
        return no_body();
      }
    }
    if (graph::has_subgraphs(node_)) {
      // Most of its nodes now come from the model.
      body_.opset_imports = model_.opset_imports;
      function_.clear_opset_import();
    } else if (function_.opset_import().empty()) {
      body_.opset_imports[node_.domain] = schema->SinceVersion();
    }
    return Status::ok_status();
  }

  Status no_body() const {
    return {StatusCode::kNotFound, graph::describe_node(graph_, id_) + " has no function body"};
  }

  Result<FunctionBody> import() {
    std::vector<std::string> symbols;
    DimSymbols dim_symbols(symbols);
    const Skeleton skeleton;
    const std::map<std::string, graph::Blob> no_files;
    ExternalData external(std::nullopt, no_files);
    TensorImporter tensors(skeleton, nullptr, external);
    Notes notes;
    EPHOST_RETURN_IF_ERROR(read_opsets());
    onnx::GraphProto proto;
    EPHOST_RETURN_IF_ERROR(make_graph(proto));
    const FunctionCall call{.graph = graph_,
                            .node = node_,
                            .proto = call_proto_,
                            .defaults = std::move(defaults_),
                            .captures = std::move(captures_)};
    NodeChecker checker(model_.ir_version, body_.opset_imports);
    ImportContext context{.tensors = tensors,
                          .symbols = dim_symbols,
                          .notes = notes,
                          .checker = checker,
                          .ir_version = model_.ir_version,
                          .functions = names_,
                          .call = &call};
    for (const auto& [domain, version] : body_.opset_imports) {
      context.opsets[domain] = {.version = version, .knowledge = opset_knowledge(domain, version)};
    }
    EPHOST_ASSIGN_OR_RETURN(body_.graph, import_graph(proto, context));
    // Its symbolic dimensions are local: they may differ between two calls.
    drop_symbolic_dims(body_.graph);
    mark_other_opsets(body_.graph);
    graph::connect(body_.graph);
    EPHOST_RETURN_IF_ERROR(graph::sort_topologically(body_.graph));
    return std::move(body_);
  }

  void mark_other_opsets(Graph& body) const {
    for (Node& node : body.nodes) {
      const auto of_model = model_.opset_imports.find(node.domain);
      const bool may_differ =
          of_model != model_.opset_imports.end() && !functions_.contains(callee_of(node));
      const onnx::OpSchema* schema =
          may_differ ? find_schema(node.domain, node.op_type, of_model->second) : nullptr;
      const onnx::OpSchema* own =
          schema != nullptr ? find_schema(node.domain, node.op_type, node.since_version) : nullptr;
      node.is_of_other_opset =
          own != nullptr
              ? !have_the_same_meaning(*own, *schema)
              : may_differ && (schema != nullptr || of_model->second != node.since_version);
      graph::for_each_subgraph(node, [&](Graph& subgraph) { mark_other_opsets(subgraph); });
    }
  }

  Status read_opsets() {
    for (const onnx::OperatorSetIdProto& import : function_.opset_import()) {
      if (import.version() < 1 || import.version() > INT32_MAX) {
        return invalid_graph(
            formatted("it imports opset version {} of domain {}, which does not exist",
                      import.version(), quote(import.domain())));
      }
      body_.opset_imports[domain_of(import.domain())] = import.version();
    }
    return Status::ok_status();
  }

  Status make_graph(onnx::GraphProto& proto) {
    proto.set_name(function_.name());
    proto.mutable_node()->Swap(function_.mutable_node());
    EPHOST_RETURN_IF_ERROR(bind_inputs(proto));
    return bind_outputs(proto);
  }

  // An input that the call omits is omitted from the nodes that read it.
  Status bind_inputs(onnx::GraphProto& proto) {
    const auto formal_count = static_cast<size_t>(function_.input_size());
    if (node_.inputs.size() > formal_count) {
      return invalid_graph(formatted("it is given {} inputs, but the function has {}",
                                     node_.inputs.size(), formal_count));
    }
    for (size_t i = 0; i < formal_count; ++i) {
      const std::string& name = function_.input(static_cast<int>(i));
      if (i < node_.inputs.size() && node_.inputs[i] != kNoValue) {
        proto.add_input()->set_name(name);
        passed_through_.insert(name);
      } else if (!name.empty()) {
        missing_.insert(name);
      }
    }
    for (onnx::NodeProto& node : *proto.mutable_node()) {
      for (const std::string& output : node.output()) {
        if (missing_.contains(output))
          return invalid_graph("it assigns its input " + quote(output));
      }
      for (std::string& input : *node.mutable_input()) {
        if (missing_.contains(input)) input.clear();
      }
    }
    return Status::ok_status();
  }

  // Every output that the call uses gets a producer of its own.
  Status bind_outputs(onnx::GraphProto& proto) {
    const auto formal_count = static_cast<size_t>(function_.output_size());
    if (node_.outputs.size() > formal_count) {
      return invalid_graph(formatted("{} outputs are requested, but the function has {}",
                                     node_.outputs.size(), formal_count));
    }
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] == kNoValue) continue;
      const std::string& name = function_.output(static_cast<int>(i));
      if (missing_.contains(name)) {
        return invalid_graph(
            formatted("its output {} is an input that the call omits", quote(name)));
      }
      std::string source = name;
      if (!passed_through_.insert(name).second) {
        source = formatted("output {} of the function, which is {}", i, name);
        onnx::NodeProto& identity = *proto.add_node();
        identity.set_op_type("Identity");
        identity.add_input(name);
        identity.add_output(source);
        body_.opset_imports.emplace("", kIdentityOpset);
      }
      proto.add_output()->set_name(source);
    }
    return Status::ok_status();
  }

  // For functions that do not import an opset of ai.onnx.
  static constexpr int64_t kIdentityOpset = 13;

  const FunctionTable& functions_;
  const FunctionNames& names_;
  const graph::Model& model_;
  const Graph& graph_;
  NodeId id_;
  const Node& node_;
  onnx::NodeProto call_proto_;
  onnx::FunctionProto function_;
  std::map<std::string, const onnx::AttributeProto*> defaults_;
  std::map<std::string, graph::ValueId> captures_;
  std::unordered_set<std::string> missing_;
  std::unordered_set<std::string> passed_through_;  // formal inputs, and outputs seen so far
  FunctionBody body_;
};

}  // namespace

Result<FunctionBody> import_function_body(const FunctionTable& functions,
                                          const FunctionNames& names, const graph::Model& model,
                                          const Graph& graph, NodeId node) {
  return BodyImport(functions, names, model, graph, node).run();
}

}  // namespace ephost::onnx_io
