#include "host/optimize/fold_budget.h"

#include <gtest/gtest.h>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::fold_budget_test {
namespace {

using graph::Graph;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;

TEST(FoldBudgetCount, CountsSharedDataOnce) {
  FoldBudget budget({.max_bytes = 100});
  const graph::Tensor tensor = float_tensor({1, 2, 3});
  const graph::Tensor same = tensor;
  budget.add(tensor);
  EXPECT_EQ(budget.bytes_of(tensor), 12U);
  budget.add(same);
  EXPECT_EQ(budget.bytes_left(), 88U);
  EXPECT_EQ(budget.bytes_of(tensor), 0U) << "the other one would still need it";
  budget.remove(tensor);
  EXPECT_EQ(budget.bytes_left(), 88U);
  budget.remove(same);
  EXPECT_EQ(budget.bytes_left(), 100U);
}

TEST(FoldBudgetCount, CountsTheTextOfStringsAndWhatHoldsIt) {
  graph::Tensor text{.type = graph::ElementType::kString, .shape = {1}};
  text.strings = std::make_shared<const std::vector<std::string>>(1, std::string(1000, 'x'));
  EXPECT_EQ(stored_bytes(text), 1000U + sizeof(std::string));
}

TEST(FoldBudgetCount, TheConstantsOfAModelAreItsOwnWhereverTheyAre) {
  GraphBuilder outer;
  outer.input("cond").constant("w", float_tensor({1, 2}));
  Graph body = GraphBuilder().constant("c", float_tensor({1})).output("c").build();
  Graph graph = outer.node("Constant", {}, {"k"})
                    .attribute("value", float_tensor({1, 2, 3}))
                    .node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .output("y")
                    .build();
  FoldBudget budget({.max_bytes = 100});
  budget.recount(graph);
  EXPECT_EQ(budget.bytes_left(), 100U);
  budget.remove(graph.initializers[0]);
  EXPECT_EQ(budget.bytes_left(), 108U);
}

TEST(FoldBudgetCount, WorkNeverGoesBelowZero) {
  FoldBudget budget({.max_work = 5});
  budget.spend(3);
  EXPECT_EQ(budget.work_left(), 2U);
  budget.spend(UINT64_MAX);
  EXPECT_EQ(budget.work_left(), 0U);
}

TEST(FoldBudgetCount, NoLimitDoesNotOverflow) {
  FoldBudget budget({.max_bytes = UINT64_MAX, .max_work = UINT64_MAX});
  budget.recount(GraphBuilder().constant("w", float_tensor({1})).output("w").build());
  EXPECT_EQ(budget.bytes_left(), UINT64_MAX - 4);
}

}  // namespace
}  // namespace ephost::optimize::fold_budget_test
