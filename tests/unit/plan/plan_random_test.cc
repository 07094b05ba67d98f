// Plans thousands of random graphs with random partitions, traits and options, and has the checkers
// verify each plan.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "host/plan/check/checker.h"
#include "host/plan/streams/stream_plan.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/partition/random_graph.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::plan_random_test {
namespace {

using graph::testing::below;
using graph::testing::chance;
using graph::testing::Random;
using graph::testing::random_graph;
using test::IsOk;
using testing::plan_graph;
using testing::Planned;
using testing::StepNotes;

std::vector<SlotPair> random_pairs(Random& random, const Step& step) {
  std::vector<SlotPair> pairs(below(random, 4));
  for (SlotPair& pair : pairs) {
    pair.input = static_cast<uint32_t>(below(random, step.inputs.size() + 1));
    pair.output = static_cast<uint32_t>(below(random, step.outputs.size() + 1));
  }
  return pairs;
}

std::vector<SlotPart> random_parts(Random& random, const Step& step) {
  std::vector<SlotPart> parts(below(random, 4));
  for (SlotPart& part : parts) {
    part.input = static_cast<uint32_t>(below(random, step.inputs.size() + 1));
    part.output = static_cast<uint32_t>(below(random, step.outputs.size() + 1));
    part.offset = below(random, 4) * 64;
  }
  return parts;
}

std::vector<SlotLocation> random_slots(Random& random, const std::vector<ValueId>& slots) {
  std::vector<SlotLocation> listed(chance(random, 20) ? below(random, 3) : 0);
  for (SlotLocation& slot : listed) {
    slot.slot = static_cast<uint32_t>(below(random, slots.size() + 1));
    slot.location = static_cast<uint32_t>(below(random, 4));
  }
  return listed;
}

std::vector<partition::Claim> random_claims(Random& random, size_t nodes) {
  std::vector<partition::Claim> claims(below(random, 6));
  for (partition::Claim& claim : claims) {
    const uint64_t first = below(random, nodes);
    for (uint64_t node = first; node < std::min<uint64_t>(first + 6, nodes); ++node) {
      if (chance(random, 70)) claim.nodes.push_back(static_cast<NodeId>(node));
    }
    claim.fused = true;
  }
  return claims;
}

Planned random_plan(uint64_t seed) {
  Random random(seed);
  const auto nodes = static_cast<uint32_t>(1 + below(random, 40));
  auto claims = random_claims(random, nodes);
  Graph graph =
      random_graph(random, {.nodes = nodes, .reach = static_cast<uint32_t>(1 + below(random, 15))});
  Planned planned = plan_graph(std::move(graph), std::move(claims));
  const bool has_locations = chance(random, 40);
  for (size_t pc = 0; pc < planned.notes.size(); ++pc) {
    StepNotes& notes = planned.notes[pc];
    notes.may_inplace = random_pairs(random, planned.execution.steps[pc]);
    if (chance(random, 50)) notes.aliases = random_pairs(random, planned.execution.steps[pc]);
    if (chance(random, 30)) notes.input_parts = random_parts(random, planned.execution.steps[pc]);
    if (chance(random, 30)) notes.output_parts = random_parts(random, planned.execution.steps[pc]);
    if (chance(random, 20)) notes.workspace_bytes = below(random, 1000);
    if (!has_locations) continue;
    if (chance(random, 50)) notes.location = static_cast<uint32_t>(below(random, 4));
    notes.input_locations = random_slots(random, planned.execution.steps[pc].inputs);
    notes.output_locations = random_slots(random, planned.execution.steps[pc].outputs);
  }
  // Two memories of one provider, and one of another.
  if (has_locations) planned.place_copies({{"a", 0}, {"b", 0}, {"c", 1}});
  planned.allocate({.enable_mem_reuse = chance(random, 90)});
  return planned;
}

std::vector<std::optional<uint64_t>> random_sizes(Random& random, size_t values) {
  std::vector<std::optional<uint64_t>> sizes(values);
  for (auto& size : sizes) {
    if (chance(random, 90)) size = below(random, 500);
  }
  return sizes;
}

// Two devices: the locations 1 and 2 are of the first, 3 is of the second.
std::vector<StepQueue> random_queues(Random& random, const Planned& planned) {
  std::vector<StepQueue> queues;
  for (const Step& step : planned.execution.steps) {
    StepQueue& queue = queues.emplace_back();
    if (chance(random, 30)) continue;
    queue.device = static_cast<uint32_t>(below(random, 2));
    queue.is_read_by_host = !is_copy(planned.graph.nodes[step.node]);
    if (!queue.is_read_by_host) {
      queue.purpose = chance(random, 50) ? StreamPurpose::kCopyIn : StreamPurpose::kCopyOut;
    }
  }
  return queues;
}

struct PlanTally {
  size_t reused = 0;
  size_t views_of_read_only = 0;
  size_t in_outputs = 0;
  size_t joined = 0;
  size_t split = 0;
  size_t parallel = 0;
  size_t copies = 0;
  size_t copied_constants = 0;
  size_t stream_waits = 0;
  size_t host_waits = 0;
  size_t releases = 0;
};

void count(const Planned& planned, PlanTally& tally) {
  for (const ValuePlan& value : planned.allocation.values) {
    if (value.kind != AllocKind::kReuse) continue;
    const ValuePlan& root = planned.allocation.values[value.reused];
    ++tally.reused;
    if (root.kind == AllocKind::kAllocateOutput) ++tally.in_outputs;
    if (root.kind == AllocKind::kPreExisting) ++tally.views_of_read_only;
    if (root.first_pc > value.first_pc) ++tally.joined;
    if (value.offset != 0 && root.first_pc < value.first_pc) ++tally.split;
  }
  for (ValueId id = 0; id < planned.graph.values.size(); ++id) {
    const ValuePlan& value = planned.allocation.values[id];
    const bool is_constant = value.kind == AllocKind::kAllocateStatically;
    if (is_constant && value.location != kHostLocation) ++tally.copied_constants;
  }
}

// One copy per value and location, each with a reader.
void expect_few_copies(const Planned& planned, PlanTally& tally) {
  std::map<ValueId, ValueId> original;  // of each copy
  std::set<std::pair<ValueId, uint32_t>> seen;
  for (const Step& step : planned.execution.steps) {
    if (!is_copy(planned.graph.nodes[step.node])) continue;
    ++tally.copies;
    const ValuePlan& made = planned.allocation.values[step.outputs[0]];
    EXPECT_GT(made.use_count, 0U);
    EXPECT_NE(made.location, planned.allocation.values[step.inputs[0]].location);
    const auto found = original.find(step.inputs[0]);
    const ValueId from = found == original.end() ? step.inputs[0] : found->second;
    original[step.outputs[0]] = from;
    EXPECT_TRUE(seen.insert({from, made.location}).second) << "copied twice";
  }
}

TEST(PlanRandom, EveryPlanIsProvedByTheChecker) {
  PlanTally tally;
  for (uint64_t seed = 0; seed < 10'000; ++seed) {
    Planned planned = random_plan(seed);
    const Status execution =
        check_execution(planned.graph, planned.partitioning, planned.execution);
    ASSERT_THAT(execution, IsOk()) << "seed " << seed;
    const auto traits = testing::to_traits(planned.notes);
    const Status allocation =
        check_allocation(planned.graph, planned.execution, traits, planned.allocation);
    ASSERT_THAT(allocation, IsOk()) << "seed " << seed;

    Random random(seed);
    const auto sizes = chance(random, 50) ? random_sizes(random, planned.graph.values.size())
                                          : std::vector<std::optional<uint64_t>>();
    const auto pattern = plan_memory(planned.allocation, sizes);
    ASSERT_THAT(pattern, IsOk());
    const Status memory = check_memory(planned.allocation, *pattern, sizes);
    ASSERT_THAT(memory, IsOk()) << "seed " << seed;
    count(planned, tally);
    expect_few_copies(planned, tally);

    const StepDependencies dependencies =
        find_dependencies(planned.execution, planned.allocation, *pattern, sizes);
    const Status order =
        check_dependencies(planned.execution, planned.allocation, *pattern, dependencies, sizes);
    ASSERT_THAT(order, IsOk()) << "seed " << seed;
    tally.parallel += has_parallel_steps(dependencies) ? 1 : 0;

    const std::vector<StepQueue> queues = random_queues(random, planned);
    const std::vector<uint32_t> counts = {static_cast<uint32_t>(1 + below(random, 4)), 1};
    const auto assignment = assign_streams(planned.execution, planned.allocation, queues, counts);
    ASSERT_THAT(assignment, IsOk());
    MemoryOptions options;
    options.step_groups = memory_groups(*assignment);
    const auto apart = plan_memory(planned.allocation, sizes, options);
    ASSERT_THAT(apart, IsOk());
    ASSERT_THAT(check_memory(planned.allocation, *apart, sizes), IsOk()) << "seed " << seed;
    const StreamPlan streams =
        plan_streams(planned.execution, planned.allocation, *apart, queues, *assignment, sizes);
    ASSERT_THAT(
        check_streams(planned.execution, planned.allocation, *apart, queues, streams, sizes),
        IsOk())
        << "seed " << seed;
    for (const PlannedWait& wait : streams.waits) {
      ++(wait.is_by_host ? tally.host_waits : tally.stream_waits);
    }
    for (const auto& released : streams.releases) tally.releases += released.size();
  }
  // The graphs must exercise what can go wrong.
  EXPECT_GT(tally.reused, 5000U);
  EXPECT_GT(tally.views_of_read_only, 500U);
  EXPECT_GT(tally.in_outputs, 250U);
  EXPECT_GT(tally.joined, 500U);
  EXPECT_GT(tally.split, 200U);
  EXPECT_GT(tally.parallel, 2000U);
  EXPECT_GT(tally.copies, 20'000U);
  EXPECT_GT(tally.copied_constants, 1000U);
  EXPECT_GT(tally.stream_waits, 10'000U);
  EXPECT_GT(tally.host_waits, 20'000U);
  EXPECT_GT(tally.releases, 1000U);
}

// All but a few: the planner takes an empty value for one of a byte, and the checker does not.
TEST(PlanRandom, EveryWaitOfAStreamIsNeeded) {
  size_t left_out = 0;
  size_t needless = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    Planned planned = random_plan(seed);
    const auto pattern = plan_memory(planned.allocation);
    ASSERT_THAT(pattern, IsOk());
    const std::vector<StepQueue> queues = random_queues(random, planned);
    const std::vector<uint32_t> counts = {2, 1};
    const auto assignment = assign_streams(planned.execution, planned.allocation, queues, counts);
    ASSERT_THAT(assignment, IsOk());
    const StreamPlan streams =
        plan_streams(planned.execution, planned.allocation, *pattern, queues, *assignment);
    for (uint32_t step = 0; step + 1 < streams.first_wait.size(); ++step) {
      for (size_t i = 0; i < streams.waits_of(step).size(); ++i) {
        StreamPlan without = streams;
        without.waits.erase(without.waits.begin() + streams.first_wait[step] +
                            static_cast<std::ptrdiff_t>(i));
        for (size_t later = step + 1; later < without.first_wait.size(); ++later) {
          --without.first_wait[later];
        }
        const Status found =
            check_streams(planned.execution, planned.allocation, *pattern, queues, without);
        needless += found.ok() ? 1 : 0;
        ++left_out;
      }
    }
  }
  EXPECT_GT(left_out, 1000U);
  EXPECT_LT(needless * 50, left_out);
}

bool operator==(const ValuePlan& a, const ValuePlan& b) {
  return a.kind == b.kind && a.location == b.location && a.reused == b.reused &&
         a.first_pc == b.first_pc && a.last_pc == b.last_pc && a.use_count == b.use_count &&
         a.bytes == b.bytes && a.offset == b.offset;
}

TEST(PlanRandom, GivesTheSamePlanTwice) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Planned first = random_plan(seed);
    const Planned second = random_plan(seed);
    ASSERT_EQ(first.execution.steps.size(), second.execution.steps.size());
    for (size_t pc = 0; pc < first.execution.steps.size(); ++pc) {
      EXPECT_EQ(first.execution.steps[pc].node, second.execution.steps[pc].node);
    }
    ASSERT_EQ(first.allocation.values.size(), second.allocation.values.size());
    for (size_t i = 0; i < first.allocation.values.size(); ++i) {
      EXPECT_TRUE(first.allocation.values[i] == second.allocation.values[i]);
    }
    EXPECT_EQ(plan_memory(first.allocation)->offsets, plan_memory(second.allocation)->offsets);
  }
}

TEST(PlanRandom, PlansAHundredThousandNodes) {
  Random random(1);
  const Planned planned = plan_graph(random_graph(random, {.nodes = 100'000}));
  const auto traits = testing::to_traits(planned.notes);
  EXPECT_THAT(check_execution(planned.graph, planned.partitioning, planned.execution), IsOk());
  EXPECT_THAT(check_allocation(planned.graph, planned.execution, traits, planned.allocation),
              IsOk());
  const auto pattern = plan_memory(planned.allocation);
  ASSERT_THAT(pattern, IsOk());
  EXPECT_THAT(check_memory(planned.allocation, *pattern), IsOk());
}

}  // namespace
}  // namespace ephost::plan::plan_random_test
