// The model graph: dense indices, single assignment, nodes in topological order. A plain value that
// the importer fills, passes rewrite, and all later stages read. It knows nothing about ONNX files,
// plugins or plans. Concurrent reads are safe; modification is not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/graph/types.h"

namespace ephost::graph {

using NodeId = uint32_t;
using ValueId = uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<uint32_t>::max();
// Represents an omitted optional input or output.
inline constexpr ValueId kNoValue = std::numeric_limits<uint32_t>::max();

struct Graph;

// A string attribute is a std::string, or a Blob if it is large (an embedded EP context);
// `Node::string` reads both.
using AttributeValue =
    std::variant<int64_t, float, std::string, Blob, Tensor, SparseTensor, ValueType,
                 std::unique_ptr<Graph>, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, std::vector<Tensor>, std::vector<SparseTensor>,
                 std::vector<ValueType>, std::vector<std::unique_ptr<Graph>>>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain;         // "" is ai.onnx
  std::string overload;       // of the called model-local function; usually empty
  int32_t since_version = 0;  // of the operator's definition; if unknown, the opset's version
  // Set if the model's opset defines the operator differently: the node came from a function that
  // imports another version of the opset.
  bool is_of_other_opset = false;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<Attribute> attributes;
  // The values of this graph that the node's subgraphs read, ascending, without duplicates.
  std::vector<ValueId> implicit_inputs;
  // Constants that the node names and does not read: the weights of a compiled partition. They
  // stay in the graph as long as the node does.
  std::vector<ValueId> kept_constants;
  std::vector<std::pair<std::string, std::string>> metadata;  // metadata_props, in file order

  [[nodiscard]] const AttributeValue* attribute(std::string_view attribute_name) const;
  // The attribute's value if it exists and has that type.
  [[nodiscard]] std::optional<int64_t> integer(std::string_view attribute_name) const;
  [[nodiscard]] std::optional<std::string_view> string(std::string_view attribute_name) const;
  [[nodiscard]] const Graph* subgraph(std::string_view attribute_name) const;
};

inline constexpr uint32_t kNoInitializer = std::numeric_limits<uint32_t>::max();

struct Value {
  std::string name;  // unique in its graph
  ValueType type;
  // What the model itself states of the type, as opposed to what was inferred; null if nothing.
  std::shared_ptr<const ValueType> declared;
  NodeId producer = kNoNode;
  std::vector<NodeId> consumers;  // ascending, unique, including implicit uses and kept_constants
  // Index into Graph::initializers. A graph input may have one too (its default, which a caller can
  // override); only an initializer that is not a graph input is constant.
  uint32_t initializer = kNoInitializer;
  // In a subgraph: the value of the enclosing graph that this value captures.
  ValueId outer = kNoValue;
  bool is_graph_input = false;
  bool is_graph_output = false;

  [[nodiscard]] bool is_constant() const {
    return initializer != kNoInitializer && !is_graph_input;
  }
};

// How a value is quantised, in ONNX's own words: each parameter names the constant that holds it,
// e.g. "SCALE_TENSOR". The host passes it on and does not interpret it.
struct QuantizationAnnotation {
  ValueId value = kNoValue;
  std::vector<std::pair<std::string, ValueId>> parameters;  // in file order
};

struct Graph {
  std::string name;
  std::string doc;
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<ValueId> inputs;   // in the model's order
  std::vector<ValueId> outputs;  // in the model's order; may list one value twice
  std::vector<Tensor> initializers;
  // Ascending by value, at most one for each. A constant that an annotation names stays in the
  // graph as long as the annotated value does, whether or not a node reads it.
  std::vector<QuantizationAnnotation> annotations;

  // Appends a value; `connect` records its uses.
  ValueId add_value(Value value);
  // Appends a node and returns its id; `connect` records producers and consumers.
  NodeId add_node(Node node);
  // Returns the constant behind a value, or null.
  [[nodiscard]] const Tensor* constant(ValueId value) const;
  // Linear search, for tests and single look-ups.
  [[nodiscard]] ValueId find_value(std::string_view value_name) const;
};

// A model-local function, kept as its serialized FunctionProto until it is inlined.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::string serialized;
};

// The body of a function with the attributes of one call substituted. `inputs` and `outputs` are
// those that the call does not omit, in its order; each output has a producer. Values that it
// captures belong to the graph around the call, as with a subgraph.
struct FunctionBody {
  Graph graph;
  std::map<std::string, int64_t> opset_imports;
};

struct Model {
  Graph graph;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opset_imports;  // "" is ai.onnx
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;  // metadata_props, in file order
  std::vector<std::string> symbols;                           // names of symbolic dimensions
  std::vector<Function> functions;
};

// How messages name a node: `Conv node "conv1"`, or `Conv node #12` if it has no name. Names come
// from files, so unprintable characters are escaped.
[[nodiscard]] std::string describe_node(const Graph& graph, NodeId node);

}  // namespace ephost::graph
