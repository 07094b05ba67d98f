#include "host/onnx_io/inference/infer.h"

#include <google/protobuf/arena.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/clone.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"
#include "host/onnx_io/import/arena_options.h"
#include "host/onnx_io/import/notes.h"
#include "host/onnx_io/import/value_types.h"
#include "host/onnx_io/inference/inference_context.h"
#include "host/onnx_io/inference/inference_guards.h"
#include "host/onnx_io/inference/node_proto.h"
#include "host/onnx_io/inference/plugin_inference.h"
#include "host/onnx_io/opsets/operator_schemas.h"
#include "host/onnx_io/opsets/opset18_25.h"

namespace ephost::onnx_io {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::Value;
using graph::ValueId;
using graph::ValueType;

// The state that all levels share.
struct Shared {
  Shared(graph::Model& inferred, const Cancellation& wanted_end, const std::set<std::string>& open)
      : model(inferred), symbols(inferred.symbols), cancellation(wanted_end), open_shapes(open) {
    for (const graph::Function& function : inferred.functions) {
      functions.emplace(function.domain, function.name, function.overload);
    }
  }

  // A plugin's definition of a node's operator, or null.
  const OperatorDefinition* definition_of(const Node& node) const {
    if (operators == nullptr || node.domain.empty() || !operators->has_domain(node.domain) ||
        functions.contains({node.domain, node.op_type, node.overload})) {
      return nullptr;
    }
    return operators->find(node.domain, node.op_type, version_of(node));
  }

  // The definition of a node's operator, or null; looked up once for all nodes of the operator.
  const onnx::OpSchema* schema_of(const Node& node) {
    const FunctionName name = {node.domain, node.op_type, node.overload};
    const auto [entry, is_new] = schemas.try_emplace({name, node.since_version}, nullptr);
    if (is_new && !functions.contains(name)) {
      entry->second = find_schema(node.domain, node.op_type, version_of(node));
    }
    return entry->second;
  }

  // The version of the definition or the opset; nodes that came from functions may have a different
  // opset than the model's.
  [[nodiscard]] int64_t version_of(const Node& node) const {
    if (node.since_version > 0) return node.since_version;
    const auto opset = model.opset_imports.find(node.domain);
    return opset == model.opset_imports.end() ? 0 : opset->second;
  }

  [[nodiscard]] bool is_open(const Value& value) const {
    return is_open_shape(open_shapes, value.name);
  }

  // Domain, type and overload.
  using FunctionName = std::tuple<std::string_view, std::string_view, std::string_view>;

  google::protobuf::Arena arena{arena_options()};  // holds the types as onnx sees them
  graph::Model& model;
  DimSymbols symbols;
  const Cancellation& cancellation;
  const std::set<std::string>& open_shapes;
  const PluginOperators* operators = nullptr;
  Status failure;  // of the model, as a plugin sees it; ends the inference
  Notes notes;
  std::set<FunctionName> functions;
  // By the names of nodes and their version.
  std::map<std::pair<FunctionName, int32_t>, const onnx::OpSchema*> schemas;
};

// What a note is about; evaluated only if there is a note.
using Place = std::function<std::string()>;

// Larger ranks and extents are hidden from onnx, which copies shapes from node to node and loops up
// to extents.
constexpr size_t kMaxShownRank = 64;
constexpr int64_t kMaxShownExtent = int64_t{1} << 40;

ValueType within_limits(ValueType type) {
  if (!type.shape) return type;
  if (type.shape->size() > kMaxShownRank) {
    type.shape.reset();
    return type;
  }
  for (int64_t& dim : *type.shape) {
    if (dim > kMaxShownExtent) dim = graph::kUnknownDim;
  }
  return type;
}

class LevelInference {
 public:
  LevelInference(Shared& shared, Graph& graph, LevelInference* enclosing)
      : shared_(shared),
        graph_(graph),
        enclosing_(enclosing),
        types_(graph.values.size()),
        constants_(graph.values.size()),
        shape_data_(graph.values.size()) {}

  void run() {
    // Including what is captured only for the bodies of this graph's own nodes.
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (graph_.values[id].outer != kNoValue) (void)type(id);
    }
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (shared_.cancellation.is_requested() || !shared_.failure.ok()) return;
      infer_node(id);
    }
  }

  // The type of a value as onnx sees it; empty if nothing is known.
  const onnx::TypeProto& type(ValueId id) {
    if (types_[id] != nullptr) return *types_[id];
    Value& value = graph_.values[id];
    if (value.outer != kNoValue && enclosing_) {
      bool conflict = false;
      value.type = merge_types(value.type, enclosing_->graph_.values[value.outer].type, conflict);
    }
    auto* made = google::protobuf::Arena::CreateMessage<onnx::TypeProto>(&shared_.arena);
    export_type(within_limits(value.type), shared_.model.symbols, *made);
    types_[id] = made;
    return *made;
  }

  // Completes the type of a value; notes any disagreement.
  void refine(ValueId id, const onnx::TypeProto& found, const Place& place) {
    const Result<ValueType> imported = import_type(found, shared_.symbols);
    Value& value = graph_.values[id];
    if (!imported.ok()) {
      shared_.notes.add(formatted("{}: inferred an invalid type of {}: {}", place(),
                                  quote(value.name), imported.status().message()));
      return;
    }
    bool conflict = false;
    const bool is_open = shared_.is_open(value);
    ValueType merged =
        merge_types(value.type, is_open ? without_shape(*imported) : *imported, conflict);
    if (conflict) {
      const auto& symbols = shared_.model.symbols;
      shared_.notes.add(formatted("{}: value {} was declared as {}, but is inferred as {}", place(),
                                  quote(value.name), graph::to_string(value.type, symbols),
                                  graph::to_string(*imported, symbols)));
    }
    value.type = std::move(merged);
    types_[id] = nullptr;
  }

  Graph& graph() { return graph_; }

 private:
  const graph::Tensor* tensor(ValueId id) const {
    const Value& value = graph_.values[id];
    if (value.outer != kNoValue && enclosing_) return enclosing_->tensor(value.outer);
    return graph_.constant(id);
  }

  const onnx::TensorProto* constant(ValueId id) {
    const Value& value = graph_.values[id];
    if (value.outer != kNoValue && enclosing_) return enclosing_->constant(value.outer);
    const graph::Tensor* tensor = graph_.constant(id);
    if (!tensor) return nullptr;
    std::unique_ptr<ShownConstant>& shown = constants_[id];
    if (!shown) {
      shown = std::make_unique<ShownConstant>();
      shown->has_data = export_small_tensor(*tensor, shown->proto);
    }
    return shown->has_data ? &shown->proto : nullptr;
  }

  const onnx::TensorShapeProto* shape_data(ValueId id) {
    const Value& value = graph_.values[id];
    if (value.outer != kNoValue && enclosing_) return enclosing_->shape_data(value.outer);
    return shape_data_[id].get();
  }

  NodeFacts facts_of(const Node& node) {
    NodeFacts facts;
    for (const ValueId input : node.inputs) {
      const bool present = input != kNoValue;
      facts.types.push_back(present ? &type(input) : nullptr);
      facts.constants.push_back(present ? constant(input) : nullptr);
      facts.shape_data.push_back(present ? shape_data(input) : nullptr);
    }
    return facts;
  }

  void infer_node(NodeId id) {
    const Node& node = graph_.nodes[id];
    visited_.clear();
    const Place place = [this, id] { return graph::describe_node(graph_, id); };
    try {
      if (const OperatorDefinition* definition = shared_.definition_of(node)) {
        infer_by_plugin(id, *definition);
      } else if (const onnx::OpSchema* schema = shared_.schema_of(node)) {
        if (!infer_elementwise(node)) infer_by_schema(id, *schema, place);
      }
    } catch (const std::exception& failure) {
      shared_.notes.add(place() + ": " + first_line(failure.what()));
    }
    // Bodies of nodes that onnx did not process.
    graph::for_each_subgraph(graph_.nodes[id], [&](Graph& subgraph) {
      if (!visited_.contains(&subgraph)) LevelInference(shared_, subgraph, this).run();
    });
  }

  bool infer_elementwise(const Node& node);
  void infer_by_schema(NodeId id, const onnx::OpSchema& schema, const Place& place);
  void infer_by_plugin(NodeId id, const OperatorDefinition& definition);
  [[nodiscard]] Graph node_alone(NodeId id) const;
  std::unique_ptr<onnx::GraphInferencer> graph_inferencer(NodeId id, const std::string& attribute,
                                                          const Place& place);
  void propagate_shape_data(const Node& node, const NodeFacts& facts, const onnx::OpSchema& schema);

  struct ShownConstant {
    onnx::TensorProto proto;
    bool has_data = false;
  };

  friend class BodyInferencer;

  Shared& shared_;
  Graph& graph_;
  LevelInference* enclosing_;
  // By value; created on first use.
  std::vector<const onnx::TypeProto*> types_;
  std::vector<std::unique_ptr<ShownConstant>> constants_;
  std::vector<std::unique_ptr<onnx::TensorShapeProto>> shape_data_;
  // The current node.
  onnx::NodeProto proto_;
  std::set<const Graph*> visited_;  // bodies
};

// Infers a body once, with the input types of the first request: an operator that asks again, in
// nested operators of this kind, must not multiply the work.
class BodyInferencer final : public onnx::GraphInferencer {
 public:
  BodyInferencer(LevelInference& enclosing, Graph& body, Place place)
      : enclosing_(enclosing),
        place_(std::move(place)),
        level_(enclosing.shared_, body, &enclosing) {}

  std::vector<const onnx::TypeProto*> doInferencing(
      const std::vector<const onnx::TypeProto*>& input_types,
      const std::vector<const onnx::TensorProto*>& /*input_data*/) override {
    Graph& body = level_.graph();
    if (input_types.size() != body.inputs.size()) {
      throw onnx::InferenceError(formatted("its body has {} inputs, but is given {}",
                                           body.inputs.size(), input_types.size()));
    }
    if (enclosing_.visited_.insert(&body).second) {
      for (size_t i = 0; i < input_types.size(); ++i) {
        if (input_types[i]) level_.refine(body.inputs[i], *input_types[i], place_);
      }
      level_.run();
    }
    std::vector<const onnx::TypeProto*> output_types;
    for (const ValueId output : body.outputs) output_types.push_back(&level_.type(output));
    return output_types;
  }

 private:
  LevelInference& enclosing_;
  Place place_;
  LevelInference level_;
};

std::unique_ptr<onnx::GraphInferencer> LevelInference::graph_inferencer(
    NodeId id, const std::string& attribute, const Place& place) {
  for (graph::Attribute& candidate : graph_.nodes[id].attributes) {
    auto* body = std::get_if<std::unique_ptr<Graph>>(&candidate.value);
    if (candidate.name == attribute && body && *body) {
      return std::make_unique<BodyInferencer>(*this, **body, place);
    }
  }
  throw onnx::InferenceError(formatted("attribute {} does not hold a graph", attribute));
}

// Operators whose output has the type of the inputs if these are all equal.
bool is_elementwise(std::string_view op_type) {
  constexpr std::array kNames = {
      std::string_view("Abs"), std::string_view("Add"),     std::string_view("Ceil"),
      std::string_view("Div"), std::string_view("Exp"),     std::string_view("Floor"),
      std::string_view("Log"), std::string_view("Max"),     std::string_view("Min"),
      std::string_view("Mul"), std::string_view("Neg"),     std::string_view("Relu"),
      std::string_view("Sub"), std::string_view("Sigmoid"), std::string_view("Sqrt"),
      std::string_view("Sum"), std::string_view("Tanh")};
  return std::find(kNames.begin(), kNames.end(), op_type) != kNames.end();
}

// A shortcut for the most common operators, without onnx's messages: all inputs have one known
// type. Integers are left to onnx, which also propagates values that are shapes.
bool LevelInference::infer_elementwise(const Node& node) {
  if (!node.attributes.empty() || node.inputs.empty() || node.outputs.size() != 1 ||
      node.outputs[0] == kNoValue || !node.domain.empty() || !is_elementwise(node.op_type)) {
    return false;
  }
  if (node.inputs[0] == kNoValue) return false;
  const ValueType& type = graph_.values[node.inputs[0]].type;
  const bool is_float = type.element == graph::ElementType::kFloat ||
                        type.element == graph::ElementType::kFloat16 ||
                        type.element == graph::ElementType::kDouble;
  if (type.kind != graph::ValueKind::kTensor || !is_float || !type.shape ||
      !graph::is_static(*type.shape)) {
    return false;
  }
  for (const ValueId input : node.inputs) {
    if (input == kNoValue) return false;
    const ValueType& other = graph_.values[input].type;
    if (other.kind != type.kind || other.element != type.element || other.shape != type.shape) {
      return false;
    }
  }
  Value& output = graph_.values[node.outputs[0]];
  // May disagree.
  if (output.type.kind != graph::ValueKind::kUnknown || shared_.is_open(output)) return false;
  output.type = type;
  types_[node.outputs[0]] = nullptr;
  return true;
}

void LevelInference::infer_by_schema(NodeId id, const onnx::OpSchema& schema, const Place& place) {
  const Node& node = graph_.nodes[id];
  proto_.Clear();  // keeps the memory of the previous node
  export_node(node, shared_.model.symbols, proto_);
  if (const Status status = verify_against(schema, proto_); !status.ok()) {
    // For a newer opset this is the last known definition, which applies if the node conforms to
    // it.
    if (opset_knowledge(node.domain, shared_.version_of(node)) == OpsetKnowledge::kKnown) {
      shared_.notes.add(place() + ": " + status.message());
    }
    return;
  }
  const NodeFacts facts = facts_of(node);
  if (const Status status = guard_inference(schema, proto_, facts); !status.ok()) {
    shared_.notes.add(place() + ": " + status.message());
    return;
  }
  TypeContext context(proto_, facts, shared_.arena, [&](const std::string& attribute) {
    return graph_inferencer(id, attribute, place);
  });
  if (schema.has_type_and_shape_inference_function()) {
    schema.GetTypeAndShapeInferenceFunction()(context);
  } else if (schema.HasFunction()) {
    onnx::shape_inference::InferShapeForFunctionNode(*schema.GetFunction(), &all_operators(),
                                                     context);
  } else {
    return;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) refine(node.outputs[i], *context.outputs()[i], place);
  }
  propagate_shape_data(node, facts, schema);
}

// A graph of the node alone, with the values that it reads and writes.
Graph LevelInference::node_alone(NodeId id) const {
  Graph alone;
  Node node = graph::clone(graph_.nodes[id]);
  std::map<ValueId, ValueId> new_ids;
  const auto add = [&](ValueId& value) {
    if (value == kNoValue) return;
    const auto [known, is_new] = new_ids.try_emplace(value, kNoValue);
    if (is_new) {
      Value copy{.name = graph_.values[value].name, .type = graph_.values[value].type};
      if (const graph::Tensor* data = tensor(value)) {
        copy.initializer = static_cast<uint32_t>(alone.initializers.size());
        alone.initializers.push_back(*data);
      }
      known->second = alone.add_value(std::move(copy));
    }
    value = known->second;
  };
  std::ranges::for_each(node.inputs, add);
  std::ranges::for_each(node.implicit_inputs, add);
  std::ranges::for_each(node.outputs, add);
  graph::for_each_subgraph(node, [&](Graph& body) {
    for (Value& value : body.values) {
      if (value.outer != kNoValue) value.outer = new_ids.at(value.outer);
    }
  });
  alone.add_node(std::move(node));
  graph::connect(alone);
  return alone;
}

void LevelInference::infer_by_plugin(NodeId id, const OperatorDefinition& definition) {
  const auto fail = [&](const Status& reason) {
    shared_.failure =
        Status(reason.code(), formatted("{}: {}: {}", graph::describe_node(graph_, id),
                                        describe(definition), reason.message()));
  };
  Result<std::vector<ValueType>> found =
      infer_by_definition(definition, node_alone(id), shared_.model, shared_.symbols);
  if (!found.ok()) return fail(found.status());
  const std::vector<ValueId>& outputs = graph_.nodes[id].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == kNoValue) continue;
    Value& value = graph_.values[outputs[i]];
    bool conflict = false;
    ValueType merged = merge_types(
        value.type, shared_.is_open(value) ? without_shape((*found)[i]) : (*found)[i], conflict);
    if (conflict) {
      const auto& symbols = shared_.model.symbols;
      return fail(Status(StatusCode::kInvalidGraph,
                         formatted("its output {} is {}, but the model states {}",
                                   quote(value.name), graph::to_string((*found)[i], symbols),
                                   graph::to_string(value.type, symbols))));
    }
    value.type = std::move(merged);
    types_[outputs[i]] = nullptr;
  }
}

void LevelInference::propagate_shape_data(const Node& node, const NodeFacts& facts,
                                          const onnx::OpSchema& schema) {
  if (!schema.has_data_propagation_function()) return;
  std::vector<onnx::TypeProto> output_types;
  for (const ValueId output : node.outputs) {
    output_types.push_back(output == kNoValue ? onnx::TypeProto() : type(output));
  }
  ShapeDataContext context(proto_, facts, output_types);
  schema.GetDataPropagationFunction()(context);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) shape_data_[node.outputs[i]] = std::move(context.found()[i]);
  }
}

void forget_shapes(Graph& graph, const std::set<std::string>& open, bool is_body) {
  if (open.empty()) return;
  for (Value& value : graph.values) {
    const bool is_interface = !is_body && (value.is_graph_input || value.is_graph_output);
    if (is_interface && value.declared != nullptr) continue;
    if (value.is_constant() || !is_open_shape(open, value.name)) continue;
    value.type = without_shape(value.type);
  }
  for (Node& node : graph.nodes) {
    graph::for_each_subgraph(node, [&](Graph& body) { forget_shapes(body, open, true); });
  }
}

}  // namespace

std::vector<std::string> infer_shapes(graph::Model& model, const Cancellation& cancellation,
                                      const std::set<std::string>& open_shapes) {
  forget_shapes(model.graph, open_shapes, false);
  Shared shared(model, cancellation, open_shapes);
  LevelInference(shared, model.graph, nullptr).run();
  return std::move(shared.notes).take();
}

Result<std::vector<std::string>> infer_shapes(graph::Model& model, const PluginOperators& operators,
                                              const Cancellation& cancellation,
                                              const std::set<std::string>& open_shapes) {
  forget_shapes(model.graph, open_shapes, false);
  Shared shared(model, cancellation, open_shapes);
  shared.operators = &operators;
  LevelInference(shared, model.graph, nullptr).run();
  EPHOST_RETURN_IF_ERROR(shared.failure);
  return std::move(shared.notes).take();
}

}  // namespace ephost::onnx_io
