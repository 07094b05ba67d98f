#include "host/runtime/evaluator.h"

#include <gtest/gtest.h>

#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/runtime/toy_provider.h"

namespace ephost::runtime {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;

// Node 0 of a graph of one node over the constant c = {1, -2}.
Result<std::vector<graph::Tensor>> evaluate(std::string_view op) {
  GraphBuilder builder;
  builder.constant("c", float_tensor({1, -2})).node(op, {"c"}, {"y"}).output("y");
  graph::Model model;
  model.graph = builder.build();
  const auto provider = test::create_in_process<testing::ToyProvider>();
  KernelEvaluator evaluator(*provider, model);
  EXPECT_TRUE(evaluator.can_evaluate(model.graph, 0));
  return evaluator.evaluate(model.graph, 0);
}

TEST(KernelEvaluator, ComputesANodeWithConstantInputs) {
  const auto outputs = evaluate("Negate");
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  const graph::Tensor& tensor = outputs.value()[0];
  EXPECT_EQ(tensor.type, ElementType::kFloat);
  EXPECT_EQ(tensor.shape, (graph::Shape{2}));
  ASSERT_EQ(tensor.data.bytes.size(), 8U);
  EXPECT_EQ(reinterpret_cast<const float*>(tensor.data.bytes.data())[1], 2.0F);
}

TEST(KernelEvaluator, GivesWorkspaceAndScratch) { EXPECT_TRUE(evaluate("Workspace").ok()); }

TEST(KernelEvaluator, PassesOnAFailure) {
  const auto outputs = evaluate("Fail");
  EXPECT_EQ(outputs.status().code(), StatusCode::kEngineError);
}

TEST(KernelEvaluator, RefusesAKernelThatForgetsItsOutput) {
  EXPECT_EQ(evaluate("Forget").status().code(), StatusCode::kEpFail);
}

TEST(KernelEvaluator, LeavesOperatorsWithoutKernelAlone) {
  GraphBuilder builder;
  builder.constant("c", float_tensor({1})).node("Unknown", {"c"}, {"y"}).output("y");
  graph::Model model;
  model.graph = builder.build();
  const auto provider = test::create_in_process<testing::ToyProvider>();
  EXPECT_FALSE(KernelEvaluator(*provider, model).can_evaluate(model.graph, 0));
}

}  // namespace
}  // namespace ephost::runtime
