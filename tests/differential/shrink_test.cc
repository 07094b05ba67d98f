#include "tests/differential/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ephost::test::shrink_test {

using namespace conformance;

namespace {

int64_t count_of(const Case& counted, const std::string& op_type) {
  const auto& nodes = counted.model.graph().node();
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](const onnx::NodeProto& node) { return node.op_type() == op_type; });
}

// A case with inputs, constants and nodes that matter, and others that do not.
Case example() {
  RandomGraph graph(3);
  const std::string x = graph.input({2, 3}, {0, 1});
  const std::string y = *graph.add(Draft("Relu", {x}));
  const std::string z = *graph.add(Draft("MatMul", {y, graph.constant({3, 4}, {0.5, 1})}));
  const std::string a = *graph.add(Draft("Tanh", {z}));
  const std::string b = *graph.add(Draft("Add", {a, graph.input({4}, {0, 1})}));
  graph.add(Draft("Sigmoid", {b}));
  return graph.grow(0);
}

TEST(Shrink, KeepsOnlyWhatTheFailureNeeds) {
  const auto fails = [](const Case& tested) {
    for (const BoundedValues& inputs : tested.inputs) {
      static_cast<void>(evaluate_model(tested.model, inputs));
    }
    return count_of(tested, "Tanh") == 1 && count_of(tested, "MatMul") == 1;
  };
  const Case smaller = shrink(example(), fails);
  EXPECT_EQ(smaller.model.graph().node_size(), 2);
  EXPECT_EQ(smaller.model.graph().output_size(), 1);
  EXPECT_EQ(smaller.inputs.size(), 1U);
  EXPECT_EQ(smaller.inputs[0].size(), 1U);
  EXPECT_EQ(smaller.model.graph().initializer_size(), 1);
}

TEST(Shrink, TriesOnlyCasesThatCanBeEvaluated) {
  int shown = 0;
  static_cast<void>(shrink(example(), [&](const Case& tested) {
    ++shown;
    EXPECT_NO_THROW(static_cast<void>(evaluate_model(tested.model, tested.inputs[0])));
    return false;
  }));
  EXPECT_GT(shown, 3);
}

}  // namespace
}  // namespace ephost::test::shrink_test
