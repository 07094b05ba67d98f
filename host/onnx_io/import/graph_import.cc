#include "host/onnx_io/import/graph_import.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/checks.h"
#include "host/graph/clone.h"
#include "host/graph/sparse.h"
#include "host/graph/subgraphs.h"
#include "host/onnx_io/opsets/opset18_25_fields.h"

namespace ephost::onnx_io {
namespace {

using graph::Graph;
using graph::invalid_graph;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::Value;
using graph::ValueId;

Status at_place(const Status& status, const std::string& place) {
  return {status.code(), place + ": " + status.message()};
}

// onnx's checker would look for the file, or reject the element type.
bool has_unusual_attribute(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
    return attribute.t().data_location() == onnx::TensorProto::EXTERNAL ||
           attribute.t().data_type() > onnx::TensorProto::DataType_MAX ||
           attribute.tensors_size() > 0 || attribute.has_sparse_tensor() ||
           attribute.sparse_tensors_size() > 0;
  });
}

// One level of a model. Names resolve to the values of this level first, then to those of the
// enclosing levels, which this level then captures.
class LevelImporter {
 public:
  LevelImporter(ImportContext& context, LevelImporter* enclosing, uint32_t depth)
      : context_(context), enclosing_(enclosing), depth_(depth) {}

  Result<Graph> run(onnx::GraphProto& proto) {
    if (depth_ > graph::kMaxNesting) {
      return invalid_graph(formatted(
          "graphs are nested more than {} levels deep; restructure the model", graph::kMaxNesting));
    }
    graph_.name = proto.name();
    graph_.doc = proto.doc_string();
    reserve(proto);
    EPHOST_RETURN_IF_ERROR(add_inputs(proto));
    EPHOST_RETURN_IF_ERROR(add_initializers(proto));
    EPHOST_RETURN_IF_ERROR(add_node_outputs(proto));
    for (const onnx::ValueInfoProto& info : proto.value_info()) {
      EPHOST_RETURN_IF_ERROR(refine_type(info, "value"));
    }
    // Types stated for outputs must be known before subgraphs copy the types of captured values.
    for (const onnx::ValueInfoProto& info : proto.output()) {
      EPHOST_RETURN_IF_ERROR(refine_type(info, "graph output"));
    }
    for (int i = 0; i < proto.node_size(); ++i) {
      EPHOST_RETURN_IF_ERROR(context_.cancellation.check());
      EPHOST_RETURN_IF_ERROR(add_node(*proto.mutable_node(i)));
    }
    EPHOST_RETURN_IF_ERROR(add_outputs(proto));
    add_annotations(proto);
    return std::move(graph_);
  }

 private:
  void reserve(const onnx::GraphProto& proto) {
    auto values =
        static_cast<size_t>(proto.input_size()) + static_cast<size_t>(proto.initializer_size());
    for (const onnx::NodeProto& node : proto.node()) {
      values += static_cast<size_t>(node.output_size());
    }
    ids_.reserve(values);
    graph_.values.reserve(values);
    graph_.nodes.reserve(static_cast<size_t>(proto.node_size()));
  }

  // `name` must outlive the importer; it belongs to the model's message.
  Result<ValueId> add_value(const std::string& name, const std::string& what) {
    if (name.empty()) return invalid_graph(what + " has no name");
    const auto [entry, is_new] = ids_.emplace(name, static_cast<ValueId>(graph_.values.size()));
    if (!is_new) {
      return invalid_graph(formatted(
          "{} {} is assigned a second time; names of values must be unique", what, quote(name)));
    }
    return graph_.add_value({.name = name});
  }

  // Returns kNoValue if no level knows the name.
  ValueId resolve(const std::string& name) {
    if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
    if (!enclosing_) return resolve_in_call(name);
    const ValueId outer = enclosing_->resolve(name);
    if (outer == kNoValue) return kNoValue;
    const ValueId id = graph_.add_value(
        {.name = name, .type = enclosing_->graph_.values[outer].type, .outer = outer});
    ids_.emplace(name, id);
    return id;
  }

  ValueId resolve_in_call(const std::string& name) {
    if (context_.call == nullptr) return kNoValue;
    const auto known = context_.call->captures.find(name);
    return known == context_.call->captures.end() ? kNoValue : capture_of_call(known->second);
  }

  // The value of this level that captures a value of the graph around the function's call.
  ValueId capture_of_call(ValueId id) {
    const auto [known, is_new] = call_ids_.emplace(id, kNoValue);
    if (is_new) {
      const Value& value = context_.call->graph.values[id];
      // A function has its own namespace, which cannot contain this name.
      known->second =
          graph_.add_value({.name = std::string("\0call:", 6) + std::to_string(id),
                            .type = value.type,
                            .outer = enclosing_ ? enclosing_->capture_of_call(id) : id});
    }
    return known->second;
  }

  Result<graph::ValueType> declared_type(const onnx::ValueInfoProto& info,
                                         const std::string& what) {
    Result<graph::ValueType> type = import_type(info.type(), context_.symbols);
    if (!type.ok()) return at_place(type.status(), "type of " + what + " " + quote(info.name()));
    return type;
  }

  Status add_inputs(const onnx::GraphProto& proto) {
    for (const onnx::ValueInfoProto& info : proto.input()) {
      EPHOST_ASSIGN_OR_RETURN(const ValueId id, add_value(info.name(), "graph input"));
      graph::ValueType& type = graph_.values[id].type;
      EPHOST_ASSIGN_OR_RETURN(type, declared_type(info, "graph input"));
      // A run gives its dense form to the operators.
      if (type.kind == graph::ValueKind::kSparseTensor) type.kind = graph::ValueKind::kTensor;
      if (!is_inferred(info)) declare(graph_.values[id]);
      graph_.inputs.push_back(id);
    }
    return Status::ok_status();
  }

  Status add_initializers(const onnx::GraphProto& proto) {
    graph_.initializers.reserve(static_cast<size_t>(proto.initializer_size()));
    for (const onnx::TensorProto& initializer : proto.initializer()) {
      EPHOST_ASSIGN_OR_RETURN(const Tensor* given, find_given(initializer));
      if (given != nullptr) {
        EPHOST_RETURN_IF_ERROR(add_initializer(initializer.name(), *given));
        continue;
      }
      EPHOST_ASSIGN_OR_RETURN(Tensor tensor,
                              context_.tensors.unaligned_tensor(
                                  initializer, "initializer " + quote(initializer.name())));
      EPHOST_RETURN_IF_ERROR(add_initializer(initializer.name(), std::move(tensor)));
    }
    for (const onnx::SparseTensorProto& initializer : proto.sparse_initializer()) {
      const std::string& name = initializer.values().name();
      EPHOST_ASSIGN_OR_RETURN(const Tensor* given, find_given(initializer));
      if (given != nullptr) {
        EPHOST_RETURN_IF_ERROR(add_initializer(name, *given));
        continue;
      }
      const std::string what = "sparse initializer " + quote(name);
      EPHOST_ASSIGN_OR_RETURN(const graph::SparseTensor sparse,
                              context_.tensors.sparse_tensor(initializer, what));
      EPHOST_RETURN_IF_ERROR(count_dense(sparse, what));
      EPHOST_ASSIGN_OR_RETURN(Tensor tensor, graph::densify(sparse, what));
      EPHOST_RETURN_IF_ERROR(add_initializer(name, std::move(tensor)));
    }
    return drop_constant_inputs();
  }

  // What the caller gives instead of an initializer of the main graph; null if nothing.
  template <class Proto>
  Result<const Tensor*> find_given(const Proto& initializer) {
    if (context_.replacement == nullptr || depth_ > 1) return nullptr;
    return context_.replacement->find(initializer);
  }

  // Checked before anything is allocated.
  Status count_dense(const graph::SparseTensor& sparse, const std::string& what) {
    const uint64_t left = context_.max_dense_bytes - context_.dense_bytes;
    const uint64_t bytes = graph::byte_size(sparse.values.type, sparse.shape).value_or(0);
    if (bytes <= left) {
      context_.dense_bytes += bytes;
      return Status::ok_status();
    }
    return invalid_graph(
        formatted("{}: its dense form needs {} bytes, but {} remain of {}={}; "
                  "raise the limit to load the model",
                  what, bytes, left, kMaxDenseBytesKey, context_.max_dense_bytes));
  }

  Status add_initializer(const std::string& name, Tensor tensor) {
    ValueId id = kNoValue;
    if (const auto known = ids_.find(name); known != ids_.end()) {
      id = known->second;
    } else {
      EPHOST_ASSIGN_OR_RETURN(id, add_value(name, "initializer"));
    }
    Value& value = graph_.values[id];
    if (value.initializer != graph::kNoInitializer) {
      return invalid_graph(formatted("initializer {} occurs twice in the graph", quote(name)));
    }
    value.initializer = static_cast<uint32_t>(graph_.initializers.size());
    const bool is_default = value.type.kind != graph::ValueKind::kUnknown &&
                            context_.ir_version >= kOptionalInputsSince;
    EPHOST_RETURN_IF_ERROR(check_declared(value, tensor, is_default, context_.symbols.names()));
    if (!is_default) {
      value.type = {
          .kind = graph::ValueKind::kTensor, .element = tensor.type, .shape = tensor.shape};
    }
    graph_.initializers.push_back(std::move(tensor));
    return Status::ok_status();
  }

  // Before IR version 4 every initializer had to be listed as an input, and none could be
  // overridden.
  Status drop_constant_inputs() {
    if (context_.ir_version >= kOptionalInputsSince) return Status::ok_status();
    std::erase_if(graph_.inputs, [&](ValueId id) {
      return graph_.values[id].initializer != graph::kNoInitializer;
    });
    return Status::ok_status();
  }

  // The outputs get consecutive ids, in the order in which `add_node` visits them again.
  Status add_node_outputs(const onnx::GraphProto& proto) {
    next_output_ = static_cast<ValueId>(graph_.values.size());
    for (const onnx::NodeProto& node : proto.node()) {
      for (const std::string& name : node.output()) {
        if (name.empty()) continue;
        EPHOST_RETURN_IF_ERROR(add_value(name, "node output").status());
      }
    }
    return Status::ok_status();
  }

  // Declarations of values that no node uses are ignored; the type of a constant is exact.
  Status refine_type(const onnx::ValueInfoProto& info, const std::string& what) {
    const auto known = ids_.find(info.name());
    EPHOST_ASSIGN_OR_RETURN(const graph::ValueType type, declared_type(info, what));
    if (known == ids_.end()) return Status::ok_status();
    Value& value = graph_.values[known->second];
    if (value.initializer != graph::kNoInitializer) return Status::ok_status();
    bool conflict = false;
    graph::ValueType merged = merge_types(value.type, type, conflict);
    if (conflict) {
      context_.notes.add(formatted("{} {} is declared as {} and as {}", what, quote(info.name()),
                                   graph::to_string(type, context_.symbols.names()),
                                   graph::to_string(value.type, context_.symbols.names())));
    } else {
      value.type = std::move(merged);
      if (!is_inferred(info)) declare(value);
    }
    return Status::ok_status();
  }

  // Before anything is inferred.
  static void declare(Value& value) {
    if (value.type.kind == graph::ValueKind::kUnknown) return;
    value.declared = std::make_shared<const graph::ValueType>(value.type);
  }

  Status add_outputs(const onnx::GraphProto& proto) {
    for (const onnx::ValueInfoProto& info : proto.output()) {
      const ValueId id = resolve(info.name());
      if (id == kNoValue) {
        return invalid_graph("graph output " + quote(info.name()) + " is not produced by any node");
      }
      graph_.outputs.push_back(id);
    }
    return Status::ok_status();
  }

  // Annotations have no effect, so one that makes no sense is dropped.
  void add_annotations(const onnx::GraphProto& proto) {
    for (const onnx::TensorAnnotation& stated : proto.quantization_annotation()) {
      const auto value = ids_.find(stated.tensor_name());
      const std::string* missing = value == ids_.end() ? &stated.tensor_name() : nullptr;
      graph::QuantizationAnnotation annotation;
      for (const auto& entry : stated.quant_parameter_tensor_names()) {
        const auto parameter = ids_.find(entry.value());
        if (parameter == ids_.end()) {
          missing = &entry.value();
        } else {
          annotation.parameters.emplace_back(entry.key(), parameter->second);
        }
      }
      if (missing != nullptr) {
        context_.notes.add("the quantization annotation of " + quote(stated.tensor_name()) +
                           " is dropped: graph " + quote(proto.name()) + " has no value " +
                           quote(*missing));
        continue;
      }
      annotation.value = value->second;
      graph_.annotations.push_back(std::move(annotation));
    }
    std::ranges::stable_sort(graph_.annotations, {}, &graph::QuantizationAnnotation::value);
    const auto is_same = [](const auto& a, const auto& b) { return a.value == b.value; };
    graph_.annotations.erase(
        std::unique(graph_.annotations.begin(), graph_.annotations.end(), is_same),
        graph_.annotations.end());
  }

  Status add_node(onnx::NodeProto& proto) {
    if (proto.domain() == "ai.onnx") proto.clear_domain();
    const NodeId id = graph_.add_node({.name = proto.name(),
                                       .op_type = proto.op_type(),
                                       .domain = proto.domain(),
                                       .overload = overload_of(proto),
                                       .metadata = metadata_of(proto)});
    if (proto.op_type().empty()) {
      return invalid_graph(graph::describe_node(graph_, id) + " has no operator");
    }
    EPHOST_RETURN_IF_ERROR(check_metadata(id));
    graph_.nodes[id].inputs.reserve(static_cast<size_t>(proto.input_size()));
    for (const std::string& name : proto.input()) {
      const ValueId input = name.empty() ? kNoValue : resolve(name);
      if (input == kNoValue && !name.empty()) {
        return invalid_graph(formatted("{} reads value {}, which nothing produces",
                                       graph::describe_node(graph_, id), quote(name)));
      }
      graph_.nodes[id].inputs.push_back(input);
    }
    graph_.nodes[id].outputs.reserve(static_cast<size_t>(proto.output_size()));
    for (const std::string& name : proto.output()) {
      graph_.nodes[id].outputs.push_back(name.empty() ? kNoValue : next_output_++);
    }
    EPHOST_RETURN_IF_ERROR(add_attributes(id, proto));
    return check_operator(id, proto);
  }

  Status check_metadata(NodeId id) const {
    std::unordered_set<std::string_view> keys;
    for (const auto& [key, value] : graph_.nodes[id].metadata) {
      if (keys.insert(key).second) continue;
      return invalid_graph(formatted("metadata key {} of {} occurs twice", quote(key),
                                     graph::describe_node(graph_, id)));
    }
    return Status::ok_status();
  }

  Status add_attributes(NodeId id, onnx::NodeProto& proto) {
    const SubgraphImporter subgraph =
        [&](onnx::GraphProto& body) -> Result<std::unique_ptr<Graph>> {
      EPHOST_ASSIGN_OR_RETURN(Graph imported, LevelImporter(context_, this, depth_ + 1).run(body));
      return std::make_unique<Graph>(std::move(imported));
    };
    std::unordered_set<std::string> names;
    graph_.nodes[id].attributes.reserve(static_cast<size_t>(proto.attribute_size()));
    for (int i = 0; i < proto.attribute_size();) {
      onnx::AttributeProto& attribute = *proto.mutable_attribute(i);
      const auto place = [&] {
        return "attribute " + quote(attribute.name()) + " of " + graph::describe_node(graph_, id);
      };
      if (attribute.name().empty()) return invalid_graph(place() + " has no name");
      if (!names.insert(attribute.name()).second) return invalid_graph(place() + " occurs twice");
      if (!attribute.ref_attr_name().empty() && context_.call != nullptr) {
        EPHOST_ASSIGN_OR_RETURN(const Bound bound, bind_reference(id, attribute));
        if (bound == Bound::kToNothing) {
          proto.mutable_attribute()->DeleteSubrange(i, 1);
          continue;
        }
        ++i;
        if (bound == Bound::kToCall) continue;
      } else {
        ++i;
      }
      Result<graph::AttributeValue> value = import_attribute(attribute, context_, subgraph);
      if (!value.ok()) return at_place(value.status(), place());
      graph_.nodes[id].attributes.push_back({attribute.name(), std::move(value).value()});
    }
    return Status::ok_status();
  }

  enum class Bound { kToNothing, kToCall, kToDefault };

  // Replaces the reference by the attribute of the call, in the node and in `attribute`. A default
  // is only written to `attribute`.
  Result<Bound> bind_reference(NodeId id, onnx::AttributeProto& attribute) {
    const FunctionCall& call = *context_.call;
    const std::string name = attribute.name();
    const std::string referred = attribute.ref_attr_name();
    const auto stated = attribute.type();
    const graph::AttributeValue* given = call.node.attribute(referred);
    if (given == nullptr) {
      const auto preset = call.defaults.find(referred);
      if (preset == call.defaults.end()) return Bound::kToNothing;
      attribute = *preset->second;
    } else {
      for (const onnx::AttributeProto& candidate : call.proto.attribute()) {
        if (candidate.name() == referred) attribute = candidate;
      }
    }
    attribute.set_name(name);
    attribute.clear_ref_attr_name();
    if (stated != onnx::AttributeProto::UNDEFINED && attribute.type() != stated) {
      return invalid_graph(
          formatted("attribute {} of {} refers to attribute {} of the function, "
                    "which the call gives with a different type",
                    quote(name), graph::describe_node(graph_, id), quote(referred)));
    }
    if (given == nullptr) return Bound::kToDefault;
    Node& node = graph_.nodes[id];
    node.attributes.push_back({name, graph::clone(*given)});
    adopt_captures(node.attributes.back());
    return Bound::kToCall;
  }

  // Graphs in a call's attributes capture values of the graph around the call.
  void adopt_captures(graph::Attribute& attribute) {
    Node holder;
    holder.attributes.push_back(std::move(attribute));
    graph::for_each_subgraph(holder, [&](Graph& subgraph) {
      for (Value& value : subgraph.values) {
        if (value.outer != kNoValue) value.outer = capture_of_call(value.outer);
      }
    });
    attribute = std::move(holder.attributes.front());
  }

  Status check_operator(NodeId id, const onnx::NodeProto& proto) {
    Node& node = graph_.nodes[id];
    const auto opset = context_.opsets.find(node.domain);
    if (opset == context_.opsets.end()) {
      return invalid_graph(
          formatted("{} is of domain {}, for which the model does not import an opset",
                    graph::describe_node(graph_, id), quote(node.domain)));
    }
    const auto [version, knowledge] = opset->second;
    node.since_version = static_cast<int32_t>(version);
    if (context_.functions.contains({node.domain, node.op_type, node.overload}))
      return Status::ok_status();
    if (knowledge != OpsetKnowledge::kKnown) return Status::ok_status();
    const auto [known, is_new] =
        context_.schemas.try_emplace({proto.domain(), proto.op_type()}, nullptr);
    if (is_new) known->second = find_schema(node.domain, node.op_type, version);
    const onnx::OpSchema* schema = known->second;
    if (!schema) return check_unknown_operator(id, version);
    node.since_version = since_version(*schema);
    // A `proto` that comes from a function's call has no payloads.
    const bool leaf =
        !graph::has_subgraphs(node) && !has_unusual_attribute(proto) && context_.call == nullptr;
    const Status status =
        leaf ? context_.checker.check(proto, *schema) : verify_against(*schema, proto);
    return status.ok() ? status : at_place(status, graph::describe_node(graph_, id));
  }

  Status check_unknown_operator(NodeId id, int64_t version) {
    const Node& node = graph_.nodes[id];
    const std::string what = formatted(
        "{}: opset {} of domain {} has no operator {}", graph::describe_node(graph_, id), version,
        quote(node.domain.empty() ? "ai.onnx" : node.domain), quote(node.op_type));
    if (!is_experimental(node.op_type)) return invalid_graph(what);
    context_.notes.add(what + "; it was experimental once and is not checked");
    return Status::ok_status();
  }

  ImportContext& context_;
  LevelImporter* enclosing_;
  uint32_t depth_;
  Graph graph_;
  ValueId next_output_ = 0;
  std::unordered_map<std::string_view, ValueId> ids_;  // by name, including captured values
  std::unordered_map<ValueId, ValueId> call_ids_;      // by value of the graph around the call
};

}  // namespace

Result<Graph> import_graph(onnx::GraphProto& proto, ImportContext& context) {
  return LevelImporter(context, nullptr, 1).run(proto);
}

}  // namespace ephost::onnx_io
