#include "host/plan/order/memory_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

#include "host/plan/check/checker.h"
#include "host/plan/order/live_bytes.h"
#include "host/plan/order/order_problem.h"
#include "host/plan/order/order_rules.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/partition/random_graph.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::memory_order_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::below;
using graph::testing::chance;
using graph::testing::GraphBuilder;
using graph::testing::Random;
using graph::testing::random_graph;
using graph::testing::tensor_type;
using test::IsOk;
using ::testing::ElementsAre;
using testing::plan_graph;
using testing::Planned;
using testing::StepNotes;

// Gives every value whose name ends in a digit n a tensor of n times 64 bytes, others one of 64.
Graph sized(GraphBuilder& builder) {
  Graph graph = builder.build();
  for (graph::Value& value : graph.values) {
    const char last = value.name.back();
    const int64_t units = last >= '0' && last <= '9' ? last - '0' : 1;
    value.type = tensor_type(ElementType::kFloat, Shape{units, 16});
  }
  return graph;
}

MemoryOrder order_of(const Planned& planned, bool search = false) {
  const auto traits = testing::to_traits(planned.notes);
  auto order = order_for_memory(planned.graph, planned.execution, traits, {{}, search});
  EXPECT_THAT(order, IsOk());
  return std::move(order).value();
}

// The steps of `planned` in another order, with its memory planned again.
Planned reorder(const Planned& planned, const std::vector<uint32_t>& order) {
  Planned result;
  result.graph.nodes.clear();
  result.partitioning = planned.partitioning;
  for (const uint32_t step : order) {
    result.execution.steps.push_back(planned.execution.steps[step]);
    result.notes.push_back(planned.notes[step]);
  }
  return result;
}

uint64_t bytes_of(const Planned& planned, const std::vector<uint32_t>& order) {
  const Planned other = reorder(planned, order);
  const auto traits = testing::to_traits(other.notes);
  const auto allocation = plan_allocation(planned.graph, other.execution, traits);
  EXPECT_THAT(allocation, IsOk());
  return find_live_bytes(allocation->values, allocation->buffers, allocation->workspaces,
                         allocation->steps)
      .sum_of_peaks();
}

TEST(MemoryOrder, FinishesOneBranchBeforeItBeginsTheNext) {
  // The file produces both large values first.
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a9"}).node("Conv", {"x"}, {"b9"});
  builder.node("Conv", {"a9"}, {"a"}).node("Conv", {"b9"}, {"b"}).node("Conv", {"a", "b"}, {"y"});
  builder.output("y");
  const Planned planned = plan_graph(sized(builder));
  const MemoryOrder order = order_of(planned);
  EXPECT_THAT(order.order, ElementsAre(0U, 2U, 1U, 3U, 4U));
  EXPECT_EQ(order.given_bytes, 19U * 64U);
  EXPECT_EQ(order.bytes, 11U * 64U);
  EXPECT_NE(order.rule, "given");
}

TEST(MemoryOrder, StaysAtTheGivenOrderWhereNothingIsGained) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b"});
  builder.node("Conv", {"a", "b"}, {"y"}).output("y");
  const MemoryOrder order = order_of(plan_graph(sized(builder)), true);
  EXPECT_THAT(order.order, ElementsAre(0U, 1U, 2U));
  EXPECT_EQ(order.rule, "given");
  EXPECT_EQ(order.bytes, order.given_bytes);
}

TEST(MemoryOrder, SeesWhatWorksInPlaceAndWhatIsAView) {
  // Relu of a9 needs no memory, so it may come before b.
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a9"}).node("Reshape", {"a9"}, {"v9"});
  builder.node("Relu", {"v9"}, {"r9"}).node("Conv", {"r9"}, {"c"}).node("Conv", {"c"}, {"y"});
  builder.output("y");
  const Planned planned = plan_graph(sized(builder));
  const auto traits = testing::to_traits(planned.notes);
  std::vector<std::optional<uint64_t>> sizes;
  for (const ValuePlan& value : planned.allocation.values) sizes.push_back(value.bytes);
  const OrderProblem problem =
      make_order_problem(planned.graph, planned.execution, traits, sizes, false);
  std::vector<uint32_t> order(planned.execution.steps.size());
  std::iota(order.begin(), order.end(), 0U);
  EXPECT_EQ(peak_of(problem, order), 10U * 64U);
  EXPECT_EQ(least_peak(problem), 10U * 64U);
}

TEST(MemoryOrder, CountsWorkspacesOfSteps) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a9"}).node("Conv", {"x"}, {"b"});
  builder.node("Conv", {"a9", "b"}, {"y"}).output("y");
  Planned planned = plan_graph(sized(builder));
  planned.notes[1].workspace_bytes = 9 * 64;  // there is room for it before a9
  planned.allocate();
  const MemoryOrder order = order_of(planned);
  EXPECT_THAT(order.order, ElementsAre(1U, 0U, 2U));
  EXPECT_EQ(order.given_bytes, 19U * 64U);
  EXPECT_EQ(order.bytes, 10U * 64U);
}

TEST(MemoryOrder, TakesPartitionsAsSteps) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a9"}).node("Conv", {"x"}, {"b9"});
  builder.node("Conv", {"a9"}, {"a8"}).node("Conv", {"b9"}, {"b8"}).node("Conv", {"a8"}, {"a"});
  builder.node("Conv", {"b8"}, {"b"}).node("Conv", {"a", "b"}, {"y"}).output("y");
  const Planned planned = plan_graph(sized(builder), {partition::testing::fused({2, 4}, "part")});
  const MemoryOrder order = order_of(planned);
  EXPECT_LT(order.bytes, order.given_bytes);
}

TEST(MemoryOrder, CountsOpenExtentsAsNumbers) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a9"}).node("Conv", {"x"}, {"b9"});
  builder.node("Conv", {"a9"}, {"a"}).node("Conv", {"b9"}, {"b"}).node("Conv", {"a", "b"}, {"y"});
  Graph graph = sized(builder.output("y"));
  for (graph::Value& value : graph.values) (*value.type.shape)[1] = graph::symbolic_dim(0);
  const Planned planned = plan_graph(std::move(graph));
  EXPECT_THAT(order_of(planned).order, ElementsAre(0U, 2U, 1U, 3U, 4U));
}

TEST(MemoryOrder, RefusesTraitsOfOtherSteps) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"y"}).output("y");
  const Planned planned = plan_graph(sized(builder));
  EXPECT_EQ(order_for_memory(planned.graph, planned.execution, {}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(MemoryOrder, EndsWhenItIsCancelled) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"y"}).output("y");
  const Planned planned = plan_graph(sized(builder));
  const auto traits = testing::to_traits(planned.notes);
  const std::atomic<bool> cancelled = true;
  const auto order = order_for_memory(planned.graph, planned.execution, traits,
                                      {.cancellation = Cancellation(&cancelled)});
  EXPECT_EQ(order.status().code(), StatusCode::kCancelled);
}

// Random graphs.

std::vector<SlotPair> random_pairs(Random& random, const Step& step) {
  std::vector<SlotPair> pairs(below(random, 3));
  for (SlotPair& pair : pairs) {
    pair.input = static_cast<uint32_t>(below(random, step.inputs.size() + 1));
    pair.output = static_cast<uint32_t>(below(random, step.outputs.size() + 1));
  }
  return pairs;
}

Planned random_plan(Random& random, uint32_t nodes) {
  std::vector<partition::Claim> claims;
  if (chance(random, 30)) claims.push_back(partition::testing::fused({0, 1}, "part"));
  Planned planned =
      plan_graph(random_graph(random, {.nodes = nodes, .reach = 12}), std::move(claims));
  for (size_t pc = 0; pc < planned.notes.size(); ++pc) {
    StepNotes& notes = planned.notes[pc];
    const Step& step = planned.execution.steps[pc];
    notes.may_inplace = random_pairs(random, step);
    if (chance(random, 30)) notes.aliases = random_pairs(random, step);
    for (const SlotPair pair :
         chance(random, 30) ? random_pairs(random, step) : std::vector<SlotPair>()) {
      notes.input_parts.push_back({pair.input, pair.output, below(random, 3) * 64});
    }
    if (chance(random, 20)) notes.workspace_bytes = below(random, 300);
  }
  return planned;
}

TEST(MemoryOrder, IsSoundAndNeverWorseThanTheGivenOne) {
  size_t better = 0;
  for (uint64_t seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    const auto nodes = static_cast<uint32_t>(2 + below(random, 30));
    const Planned planned = random_plan(random, nodes);
    const MemoryOrder order = order_of(planned, chance(random, 20));
    ASSERT_LE(order.bytes, order.given_bytes) << "seed " << seed;
    if (order.bytes < order.given_bytes) ++better;
    const Planned other = reorder(planned, order.order);
    const auto traits = testing::to_traits(other.notes);
    Status status = check_execution(planned.graph, planned.partitioning, other.execution);
    ASSERT_THAT(status, IsOk()) << "seed " << seed;
    status = check_allocation(planned.graph, other.execution, traits, order.allocation);
    ASSERT_THAT(status, IsOk()) << "seed " << seed;
    const auto pattern = plan_memory(order.allocation);
    ASSERT_THAT(pattern, IsOk());
    status = check_memory(order.allocation, *pattern);
    ASSERT_THAT(status, IsOk()) << "seed " << seed;
  }
  EXPECT_GT(better, 1000U);
}

// Calls `visit` with every order of the problem.
void for_each_order(const OrderProblem& problem, std::vector<uint32_t>& order,
                    std::vector<bool>& taken, const std::function<void()>& visit) {
  if (order.size() == problem.steps()) return visit();
  for (uint32_t step = 0; step < problem.steps(); ++step) {
    const auto before = problem.predecessors[step];
    if (taken[step] || !std::ranges::all_of(before, [&](uint32_t other) { return taken[other]; })) {
      continue;
    }
    order.push_back(step);
    taken[step] = true;
    for_each_order(problem, order, taken, visit);
    taken[step] = false;
    order.pop_back();
  }
}

TEST(MemoryOrder, SmallGraphsGetTheBestOrderThereIs) {
  size_t graphs = 0;
  size_t best = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    Graph graph = random_graph(random, {.nodes = 6, .reach = 8});
    for (graph::Value& value : graph.values) {
      value.type =
          tensor_type(ElementType::kFloat, Shape{static_cast<int64_t>(1 + below(random, 9)), 16});
    }
    const Planned planned = plan_graph(std::move(graph));
    const auto traits = testing::to_traits(planned.notes);
    std::vector<std::optional<uint64_t>> sizes;
    for (const ValuePlan& value : planned.allocation.values) sizes.push_back(value.bytes);
    const OrderProblem problem =
        make_order_problem(planned.graph, planned.execution, traits, sizes, false);
    uint64_t least = std::numeric_limits<uint64_t>::max();
    std::vector<uint32_t> order;
    std::vector<bool> taken(problem.steps(), false);
    for_each_order(problem, order, taken, [&] {
      const uint64_t bytes = bytes_of(planned, order);
      ASSERT_EQ(bytes, peak_of(problem, order)) << "seed " << seed;
      least = std::min(least, bytes);
    });
    ASSERT_GE(least, least_peak(problem)) << "seed " << seed;
    const MemoryOrder quick = order_of(planned);
    const MemoryOrder found = order_of(planned, true);
    ASSERT_EQ(found.bytes, least) << "seed " << seed;
    ASSERT_GE(quick.bytes, least);
    ++graphs;
    if (quick.bytes == least) ++best;
  }
  // Without the search, nearly all of them.
  EXPECT_GE(best * 100, graphs * 97) << best << " of " << graphs;
}

}  // namespace
}  // namespace ephost::plan::memory_order_test
