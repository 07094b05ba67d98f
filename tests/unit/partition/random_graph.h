// Random graphs for property tests of partitions and plans: topologically sorted, connected, with
// constants, omitted optional inputs, several outputs per node, and reads by subgraphs. The same
// generator state gives the same graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/connect.h"
#include "host/graph/graph.h"

namespace ephost::graph::testing {

using Random = std::mt19937_64;

// A number below `bound`, which is not 0.
inline uint64_t below(Random& random, uint64_t bound) { return random() % bound; }
inline bool chance(Random& random, uint64_t percent) { return below(random, 100) < percent; }

struct RandomGraphOptions {
  uint32_t nodes = 20;
  uint32_t reach = 12;  // how far back a node may read, in values
  uint32_t subgraph_percent = 5;
};

class RandomGraphBuilder {
 public:
  RandomGraphBuilder(Random& random, const RandomGraphOptions& options)
      : random_(random), options_(options) {}

  Graph build() && {
    const uint64_t inputs = 1 + below(random_, 3);
    for (uint64_t i = 0; i < inputs; ++i) graph_.inputs.push_back(add_value("input"));
    const uint64_t constants = below(random_, 3);
    for (uint64_t i = 0; i < constants; ++i) add_constant();
    for (uint32_t i = 0; i < options_.nodes; ++i) add_node();
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (chance(random_, id + 3 >= graph_.values.size() ? 60 : 4)) graph_.outputs.push_back(id);
    }
    connect(graph_);
    return std::move(graph_);
  }

 private:
  ValueId add_value(const std::string& stem) {
    Value value;
    value.name = stem + std::to_string(graph_.values.size());
    value.type = random_type();
    return graph_.add_value(std::move(value));
  }

  // Few shapes, so that equal sizes are frequent; some with symbols, unknown dimensions or no
  // bytes.
  ValueType random_type() {
    static const std::vector<Shape> kShapes = {{4},     {2, 2},  {2, 2},  {16},    {32},
                                               {2, 16}, {48},    {0, 3},  {-2, 4}, {4, -2},
                                               {-2, 4}, {-3, 4}, {-1, 4}, {}};
    ValueType type;
    type.kind = chance(random_, 95) ? ValueKind::kTensor : ValueKind::kSequence;
    type.element = chance(random_, 80)   ? ElementType::kFloat
                   : chance(random_, 50) ? ElementType::kInt32
                   : chance(random_, 80) ? ElementType::kInt64
                                         : ElementType::kString;
    if (chance(random_, 95)) type.shape = kShapes[below(random_, kShapes.size())];
    return type;
  }

  void add_constant() {
    const ValueId id = add_value("constant");
    Tensor tensor;
    tensor.type = ElementType::kFloat;
    tensor.shape = {1};
    tensor.data = make_blob(std::vector<std::byte>(4));
    graph_.values[id].type = {
        .kind = ValueKind::kTensor, .element = tensor.type, .shape = tensor.shape};
    graph_.values[id].initializer = static_cast<uint32_t>(graph_.initializers.size());
    graph_.initializers.push_back(std::move(tensor));
  }

  ValueId earlier_value() {
    const uint64_t count = graph_.values.size();
    const uint64_t reach = chance(random_, 90) ? std::min<uint64_t>(options_.reach, count) : count;
    return static_cast<ValueId>(count - 1 - below(random_, reach));
  }

  void add_node() {
    Node node;
    node.op_type = "Op";
    node.name = "node" + std::to_string(graph_.nodes.size());
    node.since_version = 1;
    const uint64_t inputs = below(random_, 4);
    for (uint64_t i = 0; i < inputs; ++i) {
      node.inputs.push_back(chance(random_, 95) ? earlier_value() : kNoValue);
    }
    if (chance(random_, options_.subgraph_percent)) {
      node.attributes.push_back({"body", make_body(earlier_value())});
    }
    const uint64_t outputs = chance(random_, 80) ? 1 : 1 + below(random_, 3);
    for (uint64_t i = 0; i < outputs; ++i) {
      node.outputs.push_back(chance(random_, 97) ? add_value("value") : kNoValue);
    }
    graph_.add_node(std::move(node));
  }

  // A subgraph that returns a value of the enclosing graph.
  std::unique_ptr<Graph> make_body(ValueId outer) {
    auto body = std::make_unique<Graph>();
    Value captured;
    captured.name = graph_.values[outer].name;
    captured.outer = outer;
    const ValueId inner = body->add_value(std::move(captured));
    Node copy;
    copy.op_type = "Identity";
    copy.inputs = {inner};
    Value result;
    result.name = "result";
    copy.outputs = {body->add_value(std::move(result))};
    body->outputs = copy.outputs;
    body->add_node(std::move(copy));
    return body;
  }

  Random& random_;
  RandomGraphOptions options_;
  Graph graph_;
};

inline Graph random_graph(Random& random, const RandomGraphOptions& options = {}) {
  return RandomGraphBuilder(random, options).build();
}

}  // namespace ephost::graph::testing
