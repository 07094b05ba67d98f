// fake_graph.h: a graph as a plugin sees it, built by hand: nodes, values, attributes and constants
// behind the C ABI, without any part of the host.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/tensor_memory.h"

namespace ephost::test {

using FakeAttribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>>;
using FakeAttributes = std::map<std::string, FakeAttribute>;

// Values and nodes are numbered in the order in which they are added; nodes must be added in
// topological order. Views handed out stay valid until the graph is changed or destroyed.
class FakeGraph : public eph_graph {
 public:
  FakeGraph();
  FakeGraph(const FakeGraph&) = delete;
  FakeGraph& operator=(const FakeGraph&) = delete;

  // Each returns the value's index. An extent of -1 is open.
  uint32_t add_input(const std::string& name, const Shape& shape, int32_t type = EPH_ELEMENT_FLOAT);
  uint32_t add_constant(const std::string& name, const Shape& shape, std::vector<float> data);
  uint32_t add_integers(const std::string& name, std::vector<int64_t> data);
  uint32_t add_int8(const std::string& name, const Shape& shape, std::vector<int8_t> data);
  // A constant of that element type, from its bytes.
  uint32_t add_bytes(const std::string& name, const Shape& shape, int32_t type,
                     std::vector<int8_t> bytes);
  // A value of a node to come.
  uint32_t add_value(const std::string& name, const Shape& shape, int32_t type = EPH_ELEMENT_FLOAT);
  // The output of a new node that has only one.
  uint32_t add(const std::string& op_type, std::vector<uint32_t> inputs, const Shape& shape,
               const FakeAttributes& attributes = {}, int32_t since_version = 13);

  // Returns the node's index. EPH_NONE stands for inputs and outputs that are left out.
  uint32_t add_node(const std::string& op_type, std::vector<uint32_t> inputs,
                    std::vector<uint32_t> outputs, const FakeAttributes& attributes = {},
                    int32_t since_version = 13);
  // Nodes are of ONNX's own domain otherwise.
  void set_domain(uint32_t node, const std::string& domain) { nodes_[node]->domain = domain; }
  void mark_output(uint32_t value);
  void mark_unranked(uint32_t value);  // nothing is known of its shape
  void mark_taken(uint32_t node);

  [[nodiscard]] uint32_t node_count() const { return static_cast<uint32_t>(nodes_.size()); }
  [[nodiscard]] const std::vector<uint32_t>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<uint32_t>& outputs() const { return outputs_; }
  [[nodiscard]] const std::string& value_name(uint32_t value) const { return values_[value]->name; }
  [[nodiscard]] const Shape& value_shape(uint32_t value) const { return values_[value]->shape; }
  [[nodiscard]] int32_t value_type(uint32_t value) const { return values_[value]->type; }
  [[nodiscard]] const std::string& op_type(uint32_t node) const { return nodes_[node]->op_type; }

  // A set of nodes, in ascending order, as a graph of its own, as a host hands it to compile.
  // Constants are shared with this graph, which must outlive the new one.
  [[nodiscard]] std::unique_ptr<FakeGraph> extract(const std::vector<uint32_t>& nodes) const;

  // A graph with one EPContext node whose inputs and outputs have the names and shapes of this
  // graph's.
  [[nodiscard]] std::unique_ptr<FakeGraph> as_context_node() const;

 private:
  struct Value {
    std::string name;
    Shape shape;
    int32_t type = EPH_ELEMENT_FLOAT;
    bool has_rank = true;
    uint32_t flags = 0;
    uint32_t producer = EPH_NONE;
    std::vector<uint32_t> consumers;
    bool is_constant = false;
    eph_value constant = {};
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<int8_t> bytes;
  };
  struct Node {
    std::string name;
    std::string op_type;
    std::string domain;
    std::vector<uint32_t> inputs;
    std::vector<uint32_t> outputs;
    FakeAttributes fields;
    std::vector<eph_attribute> attributes;
    std::deque<eph_string> strings;
    int32_t since_version = 13;
    uint32_t flags = 0;
  };

  static const FakeGraph& self(const eph_graph* graph) {
    return *static_cast<const FakeGraph*>(graph);
  }
  static int32_t get_graph(const eph_graph* graph, eph_graph_info* out, eph_error* error) noexcept;
  static int32_t get_node(const eph_graph* graph, uint32_t index, eph_node_info* out,
                          eph_error* error) noexcept;
  static int32_t get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                           eph_error* error) noexcept;
  static int32_t find_value(const eph_graph* graph, eph_string name, uint32_t* out_value,
                            eph_error* error) noexcept;
  static int64_t get_opset(const eph_graph* graph, eph_string domain) noexcept;
  static int32_t get_onnx(const eph_graph* graph, uint64_t outside_bytes, eph_bytes* out,
                          eph_error* error) noexcept;
  static const eph_graph_api kApi;

  static void convert_attributes(Node& node);
  uint32_t finish_constant(uint32_t value, const void* data, std::size_t byte_size);
  uint32_t adopt(const FakeGraph& other, uint32_t value, std::map<uint32_t, uint32_t>& known);

  // Behind pointers, so that what views point to stays where it is.
  std::vector<std::unique_ptr<Value>> values_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> outputs_;
};

}  // namespace ephost::test
