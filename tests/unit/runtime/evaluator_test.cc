#include "host/runtime/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/runtime/toy_provider.h"

namespace ephost::runtime::evaluator_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using test::IsOk;
using ::testing::HasSubstr;

// Node 0 of a graph of one node over the constant c = {1, -2}.
Result<std::vector<graph::Tensor>> evaluate(std::string_view op, optimize::EvaluationLimit& limit,
                                            graph::Tensor constant = float_tensor({1, -2})) {
  GraphBuilder builder;
  builder.constant("c", std::move(constant)).node(op, {"c"}, {"y"}).output("y");
  graph::Model model;
  model.graph = builder.build();
  const auto provider = test::create_in_process<testing::ToyProvider>();
  KernelEvaluator evaluator(*provider, model);
  EXPECT_TRUE(evaluator.can_evaluate(model.graph, 0));
  return evaluator.evaluate(model.graph, 0, limit);
}

Result<std::vector<graph::Tensor>> evaluate(std::string_view op) {
  optimize::EvaluationLimit limit;
  return evaluate(op, limit);
}

TEST(KernelEvaluator, ComputesANodeWithConstantInputs) {
  const auto outputs = evaluate("Negate");
  ASSERT_THAT(outputs, IsOk());
  const graph::Tensor& tensor = outputs.value()[0];
  EXPECT_EQ(tensor.type, ElementType::kFloat);
  EXPECT_EQ(tensor.shape, (graph::Shape{2}));
  ASSERT_EQ(tensor.data.bytes.size(), 8U);
  EXPECT_EQ(reinterpret_cast<const float*>(tensor.data.bytes.data())[1], 2.0F);
}

TEST(KernelEvaluator, GivesWorkspaceAndScratch) { EXPECT_THAT(evaluate("Workspace"), IsOk()); }

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

TEST(KernelEvaluator, AllocatesNoOutputBeyondItsLimit) {
  optimize::EvaluationLimit enough{.max_output_bytes = 8};
  EXPECT_THAT(evaluate("Negate", enough), IsOk());
  EXPECT_FALSE(enough.is_exceeded);
  optimize::EvaluationLimit less{.max_output_bytes = 7};
  const Status status = evaluate("Negate", less).status();
  EXPECT_THAT(status.message(), HasSubstr("its outputs need more than 7 bytes"));
  EXPECT_TRUE(less.is_exceeded);
}

TEST(KernelEvaluator, CountsTheTextOfStrings) {
  graph::Tensor text{.type = ElementType::kString, .shape = {1}};
  text.strings = std::make_shared<const std::vector<std::string>>(1, std::string(999, 'x'));
  constexpr uint64_t kNeeded = sizeof(std::string) + 1000;  // including the mark that Shout appends
  optimize::EvaluationLimit enough{.max_output_bytes = kNeeded};
  EXPECT_THAT(evaluate("Shout", enough, text), IsOk());
  optimize::EvaluationLimit less{.max_output_bytes = kNeeded - 1};
  EXPECT_FALSE(evaluate("Shout", less, text).ok());
  EXPECT_TRUE(less.is_exceeded);
}

TEST(KernelEvaluator, LimitsTheScratchMemoryOfAKernel) { EXPECT_FALSE(evaluate("Hoard").ok()); }

TEST(KernelEvaluator, TellsAKernelThatItIsCancelled) {
  std::atomic<bool> cancelled = false;
  optimize::EvaluationLimit limit{.cancellation = Cancellation(&cancelled)};
  EXPECT_THAT(evaluate("Obey", limit), IsOk());
  cancelled = true;
  EXPECT_THAT(evaluate("Obey", limit).status().message(), HasSubstr("cancelled"));
}

}  // namespace
}  // namespace ephost::runtime::evaluator_test
