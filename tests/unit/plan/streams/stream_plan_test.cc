#include "host/plan/streams/stream_plan.h"

#include <gmock/gmock.h>

#include "host/plan/check/checker.h"
#include "host/plan/streams/copy_order.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::stream_plan_test {
namespace {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::plan_graph;
using testing::Planned;

constexpr StepQueue kHost = {};
constexpr StepQueue kDevice = {0, StreamPurpose::kCompute, false};
constexpr StepQueue kOther = {1, StreamPurpose::kCompute, false};
constexpr StepQueue kIn = {0, StreamPurpose::kCopyIn, false};
constexpr StepQueue kOut = {0, StreamPurpose::kCopyOut, false};

Planned planned(GraphBuilder& builder) {
  Graph graph = builder.build();
  for (graph::Value& value : graph.values) {
    value.type = tensor_type(ElementType::kFloat, graph::Shape{16});
  }
  return plan_graph(std::move(graph));
}

// Each value has a buffer of its own, so that only what is read is waited for.
StreamPlan streams_of(Planned& made, const std::vector<StepQueue>& queues,
                      uint32_t compute_streams = 1) {
  made.allocate({.enable_mem_reuse = false});
  MemoryOptions options;
  options.enable_mem_pattern = false;
  const auto pattern = plan_memory(made.allocation, {}, options);
  const std::vector<uint32_t> counts = {compute_streams, 1};
  const auto assignment = assign_streams(made.execution, made.allocation, queues, counts);
  EXPECT_THAT(assignment, IsOk());
  StreamPlan plan = plan_streams(made.execution, made.allocation, *pattern, queues, *assignment);
  EXPECT_THAT(check_streams(made.execution, made.allocation, *pattern, queues, plan), IsOk());
  return plan;
}

std::vector<uint32_t> waits_of(const StreamPlan& plan, uint32_t step) {
  std::vector<uint32_t> steps;
  for (const PlannedWait& wait : plan.waits_of(step)) steps.push_back(wait.step);
  return steps;
}
bool is_by_host(const StreamPlan& plan, uint32_t step) {
  return plan.waits_of(step).front().is_by_host;
}

GraphBuilder chain(const std::vector<std::string>& names) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  std::string last = "x";
  for (const std::string& name : names) {
    builder.node("Exp", {last}, {name});
    last = name;
  }
  builder.output(last);
  return builder;
}

TEST(StreamPlan, IsEmptyWhereNoDeviceDoesAnything) {
  GraphBuilder builder = chain({"a", "y"});
  Planned made = planned(builder);
  EXPECT_TRUE(streams_of(made, {kHost, kHost}).empty());
}

TEST(StreamPlan, NeedsNoWaitsOnOneStream) {
  GraphBuilder builder = chain({"a", "b", "y"});
  Planned made = planned(builder);
  const StreamPlan plan = streams_of(made, {kDevice, kDevice, kDevice});
  EXPECT_THAT(plan.stream_of, ElementsAre(1, 1, 1));
  EXPECT_THAT(plan.waits, IsEmpty());
  EXPECT_THAT(plan.is_recorded, ElementsAre(false, false, false));
}

TEST(StreamPlan, LetsCopiesAndComputationsWaitForEachOther) {
  GraphBuilder builder = chain({"in", "a", "b", "out"});
  Planned made = planned(builder);
  const StreamPlan plan = streams_of(made, {kIn, kDevice, kDevice, kOut});
  EXPECT_EQ(plan.streams.size(), 3U);
  EXPECT_THAT(waits_of(plan, 1), ElementsAre(0));
  EXPECT_FALSE(is_by_host(plan, 1));
  EXPECT_THAT(waits_of(plan, 2), IsEmpty());
  EXPECT_THAT(waits_of(plan, 3), ElementsAre(2));
  EXPECT_THAT(plan.is_recorded, ElementsAre(true, false, true, false));
}

TEST(StreamPlan, MakesTheHostWaitWhereItReads) {
  GraphBuilder builder = chain({"a", "host", "b"});
  Planned made = planned(builder);
  const StreamPlan plan = streams_of(made, {kDevice, kHost, kDevice});
  EXPECT_THAT(plan.stream_of, ElementsAre(1, kHostStream, 1));
  EXPECT_THAT(waits_of(plan, 1), ElementsAre(0));
  EXPECT_TRUE(is_by_host(plan, 1));
  EXPECT_THAT(waits_of(plan, 2), IsEmpty()) << "the host has ended its step by then";
}

TEST(StreamPlan, MakesTheHostWaitBetweenDevices) {
  GraphBuilder builder = chain({"a", "b", "c"});
  Planned made = planned(builder);
  const StreamPlan plan = streams_of(made, {kDevice, kOther, kDevice});
  EXPECT_TRUE(is_by_host(plan, 1));
  EXPECT_TRUE(is_by_host(plan, 2));
}

// Step 3 reads both; that step 2 waits for step 0 says enough of step 0.
TEST(StreamPlan, WaitsForNothingThatAnotherWaitImplies) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"in"}).node("Exp", {"x"}, {"more"});
  builder.node("Sub", {"in", "more"}, {"a"}).node("Sub", {"a", "in"}, {"y"}).output("y");
  Planned made = planned(builder);
  const StreamPlan plan = streams_of(made, {kIn, kIn, kDevice, kOut});
  EXPECT_THAT(waits_of(plan, 2), ElementsAre(1)) << "the later one on the stream";
  EXPECT_THAT(waits_of(plan, 3), ElementsAre(2));
}

TEST(StreamPlan, GivesBranchesStreamsOfTheirOwn) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"x"}, {"b"});
  builder.node("Exp", {"a"}, {"c"}).node("Exp", {"b"}, {"d"});
  builder.node("Sub", {"c", "d"}, {"y"}).output("y");
  Planned made = planned(builder);
  const std::vector<StepQueue> queues(5, kDevice);
  const StreamPlan plan = streams_of(made, queues, 2);
  EXPECT_THAT(plan.stream_of, ElementsAre(1, 2, 1, 2, 2));
  EXPECT_THAT(waits_of(plan, 4), ElementsAre(2));
  EXPECT_EQ(streams_of(made, queues, 1).streams.size(), 1U);
}

// Chains that would use each other's places in turn have memory of their own.
TEST(StreamPlan, KeepsTheMemoryOfStreamsApart) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  for (const char* const name : {"a", "b"}) {
    std::string last = "x";
    for (int i = 0; i < 6; ++i) {
      const std::string next = name + std::to_string(i);
      builder.node("Exp", {last}, {next});
      last = next;
    }
  }
  builder.node("Sub", {"a5", "b5"}, {"y"}).output("y");
  const Planned made = planned(builder);
  const std::vector<StepQueue> queues(13, kDevice);
  const std::vector<uint32_t> counts = {2};
  const auto assignment = assign_streams(made.execution, made.allocation, queues, counts);
  ASSERT_THAT(assignment, IsOk());
  MemoryOptions options;
  for (const bool apart : {false, true}) {
    if (apart) options.step_groups = memory_groups(*assignment);
    const auto pattern = plan_memory(made.allocation, {}, options);
    ASSERT_THAT(pattern, IsOk());
    EXPECT_THAT(check_memory(made.allocation, *pattern), IsOk());
    const StreamPlan plan =
        plan_streams(made.execution, made.allocation, *pattern, queues, *assignment);
    EXPECT_EQ(waits_of(plan, 12).size(), apart ? 1U : 0U) << "or the chains have met before";
    EXPECT_EQ(pattern->blocks[0].bytes > pattern->blocks[0].lower_bound, apart);
  }
}

TEST(StreamPlan, MakesTheHostWaitForWhatAStepReadsWhileItIsEnqueued) {
  GraphBuilder builder = chain({"shape", "a"});
  Planned made = planned(builder);
  StepQueue reads = kDevice;
  reads.is_read_by_host = true;
  const StreamPlan plan = streams_of(made, {kDevice, reads});
  EXPECT_THAT(waits_of(plan, 1), ElementsAre(0));
  EXPECT_TRUE(is_by_host(plan, 1));
}

// The plan's order is a, y, c, z; "c" takes the place of "a".
TEST(StreamPlan, WaitsForTheFormerUsersOfAPlace) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"a"}, {"y"});
  builder.node("Exp", {"x"}, {"c"}).node("Exp", {"c"}, {"z"}).output("y").output("z");
  Planned made = planned(builder);
  const MemoryPattern pattern = *plan_memory(made.allocation);
  ASSERT_EQ(pattern.offsets[made.id("a")], pattern.offsets[made.id("c")]);
  const std::vector<StepQueue> queues = {kDevice, kOut, kDevice, kOut};
  const std::vector<uint32_t> counts = {1};
  StreamPlan plan = plan_streams(made.execution, made.allocation, pattern, queues,
                                 *assign_streams(made.execution, made.allocation, queues, counts));
  EXPECT_THAT(waits_of(plan, 2), ElementsAre(1));
  EXPECT_THAT(check_streams(made.execution, made.allocation, pattern, queues, plan), IsOk());

  plan.is_recorded[1] = false;
  EXPECT_EQ(check_streams(made.execution, made.allocation, pattern, queues, plan).message(),
            "the plan of streams is wrong: step 2 waits for step 1, which has no point before");
}

TEST(StreamPlan, GivesBackBuffersWhenTheirUsersAreDone) {
  GraphBuilder builder = chain({"a", "host", "b", "c", "y"});
  Planned made = planned(builder);
  StreamPlan plan = streams_of(made, {kDevice, kHost, kDevice, kDevice, kHost});
  // "a" and "host" are in host memory, as nothing else was said; the host waits for step 3 last.
  EXPECT_THAT(plan.releases[1], ElementsAre(made.id("a")));
  EXPECT_THAT(plan.releases[2], IsEmpty()) << "step 2 may still read";
  EXPECT_EQ(plan.releases[4].size(), 3U);
  MemoryOptions options;
  options.enable_mem_pattern = false;
  const auto pattern = plan_memory(made.allocation, {}, options);
  std::swap(plan.releases[2], plan.releases[4]);
  EXPECT_THAT(check_streams(made.execution, made.allocation, *pattern,
                            std::vector<StepQueue>{kDevice, kHost, kDevice, kDevice, kHost}, plan)
                  .message(),
              ::testing::HasSubstr("is given back after step 2, when it may be in use"));
}

// Each of four inputs is copied in, computed with, and copied out.
TEST(CopyOrder, MovesCopiesAwayFromTheComputationsBesideThem) {
  GraphBuilder builder;
  std::vector<StepQueue> queues;
  for (const char* const n : {"1", "2", "3", "4"}) {
    const std::string name = n;
    builder.input("x" + name, tensor_type(ElementType::kFloat));
    builder.node("Exp", {"x" + name}, {"in" + name}).node("Exp", {"in" + name}, {"a" + name});
    builder.node("Exp", {"a" + name}, {"out" + name}).output("out" + name);
    queues.insert(queues.end(), {kIn, kDevice, kOut});
  }
  const Planned made = planned(builder);
  // Steps 0, 3, 6 and 9 copy in, 2, 5, 8 and 11 copy out.
  EXPECT_THAT(order_copies(made.execution, queues),
              ElementsAre(0, 3, 6, 1, 9, 4, 7, 2, 10, 5, 8, 11));
}

TEST(CopyOrder, LeavesCopiesBeforeTheirReadersAndBehindTheirInputs) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"a"}, {"a@host"}).node("Exp", {"a@host"}, {"b"});
  builder.node("Exp", {"a"}, {"c"}).node("Exp", {"b"}, {"b@device"});
  builder.node("Sub", {"b@device", "c"}, {"y"}).output("y");
  const Planned made = planned(builder);
  EXPECT_THAT(order_copies(made.execution,
                           std::vector<StepQueue>{kDevice, kOut, kHost, kDevice, kIn, kDevice}),
              ElementsAre(0, 1, 2, 4, 3, 5));
}

}  // namespace
}  // namespace ephost::plan::stream_plan_test
