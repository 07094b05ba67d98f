// An evaluator that answers what a test says, and graphs to fold, for the tests of constant
// folding.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/checks.h"
#include "host/optimize/constant_folding.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::testing {

// Answers each evaluation with what the test says; by default with one float, 42.
class FakeEvaluator final : public Evaluator {
 public:
  bool can_evaluate(const graph::Graph&, graph::NodeId) const override { return able; }

  Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph, graph::NodeId node,
                                              EvaluationLimit& limit) override {
    evaluated.push_back(graph.nodes[node].name);
    last_limit = limit.max_output_bytes;
    limit.is_exceeded = exceeds;
    return answer(graph, node);
  }

  bool able = true;
  bool exceeds = false;
  uint64_t last_limit = 0;
  std::vector<std::string> evaluated;
  std::function<Result<std::vector<graph::Tensor>>(const graph::Graph&, graph::NodeId)> answer =
      [](const graph::Graph& graph, graph::NodeId node) {
        return std::vector<graph::Tensor>(graph.nodes[node].outputs.size(),
                                          graph::testing::float_tensor({42}));
      };
};

inline FoldReport fold(graph::Graph& graph, FakeEvaluator& evaluator, FoldBudget& budget,
                       const FoldOptions& options = {}) {
  Result<FoldReport> report = fold_constants(graph, evaluator, budget, options);
  EXPECT_THAT(report, test::IsOk());
  EXPECT_EQ(check_graph(graph).message(), "");
  return std::move(report).value();
}

inline FoldReport fold(graph::Graph& graph, FakeEvaluator& evaluator,
                       const FoldOptions& options = {}) {
  FoldBudget budget;
  return fold(graph, evaluator, budget, options);
}

inline Result<std::vector<graph::Tensor>> four_floats(const graph::Graph&, graph::NodeId) {
  return std::vector<graph::Tensor>{graph::testing::float_tensor({1, 2, 3, 4})};
}

// x + f(w) + g(w), where all have four elements, or f(f(w)) in place of g(w).
inline graph::Graph two_folds(bool in_a_row) {
  return graph::testing::GraphBuilder()
      .input("x")
      .constant("w", graph::testing::float_tensor({1, 2, 3, 4}))
      .node("Neg", {"w"}, {"a"})
      .node("Abs", {in_a_row ? "a" : "w"}, {"b"})
      .node("Sum", {"x", "w", "b", in_a_row ? "b" : "a"}, {"y"})
      .output("y")
      .build();
}

}  // namespace ephost::optimize::testing
