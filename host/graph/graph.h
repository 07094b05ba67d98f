// The model graph: dense indices, single assignment, nodes in topological order. A plain value that
// the importer fills, passes rewrite, and everything later reads. Knows nothing of ONNX files,
// plugins or plans. Not thread-safe to modify; concurrent reads are fine.
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
// Stands for an optional input or output that is left out.
inline constexpr ValueId kNoValue = std::numeric_limits<uint32_t>::max();

struct Graph;

// A string attribute is a std::string, or a Blob where it is large (an embedded EP context);
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
  std::string overload;       // of the model-local function that the node calls; mostly empty
  int32_t since_version = 0;  // of the operator's definition; the opset's version if unknown
  // Set where the model's opset has another definition of the operator: the node came from a
  // function that imports another version.
  bool is_of_other_opset = false;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<Attribute> attributes;
  // Values of this graph that the node's subgraphs read, ascending, each once.
  std::vector<ValueId> implicit_inputs;

  [[nodiscard]] const AttributeValue* attribute(std::string_view attribute_name) const;
  // The attribute's value if it is there and of that type.
  [[nodiscard]] std::optional<int64_t> integer(std::string_view attribute_name) const;
  [[nodiscard]] std::optional<std::string_view> string(std::string_view attribute_name) const;
  [[nodiscard]] const Graph* subgraph(std::string_view attribute_name) const;
};

inline constexpr uint32_t kNoInitializer = std::numeric_limits<uint32_t>::max();

struct Value {
  std::string name;  // unique in its graph
  ValueType type;
  NodeId producer = kNoNode;
  std::vector<NodeId> consumers;  // ascending, each once; implicit uses count
  // Index into Graph::initializers. A graph input may have one too (its default, which a caller can
  // override); only an initializer that is no graph input is constant.
  uint32_t initializer = kNoInitializer;
  // For a subgraph: the value of the enclosing graph that this one stands for.
  ValueId outer = kNoValue;
  bool is_graph_input = false;
  bool is_graph_output = false;

  [[nodiscard]] bool is_constant() const {
    return initializer != kNoInitializer && !is_graph_input;
  }
};

struct Graph {
  std::string name;
  std::string doc;
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<ValueId> inputs;   // in the model's order
  std::vector<ValueId> outputs;  // in the model's order; one value may stand twice
  std::vector<Tensor> initializers;

  // Appends a value; its uses are recorded by `connect`.
  ValueId add_value(Value value);
  // Appends a node and returns its id. Producer and consumers are recorded by `connect`.
  NodeId add_node(Node node);
  // The constant behind a value, or null.
  [[nodiscard]] const Tensor* constant(ValueId value) const;
  // Linear search; for tests and single look-ups.
  [[nodiscard]] ValueId find_value(std::string_view value_name) const;
};

// Model-local function, kept as its serialised FunctionProto until it is inlined.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::string serialized;
};

// What a call of a function stands for, with the call's attributes in place. `inputs` and `outputs`
// are those that the call does not leave out, in its order; each output has a producer. Values that
// it captures are of the graph around the call, as a subgraph's are.
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

// `Conv node "conv1"`, or `Conv node #12` where it has no name: how messages speak of a node. Names
// come from files and are escaped where they would not print.
[[nodiscard]] std::string describe_node(const Graph& graph, NodeId node);

}  // namespace ephost::graph
