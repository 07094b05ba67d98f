#include "host/runtime/frame/step_outputs.h"

#include <gtest/gtest.h>

#include "host/runtime/values/composite.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/frame/frame_parts.h"

namespace ephost::runtime::step_outputs_test {
namespace {

using test::IsOk;
using testing::FrameParts;
using testing::Machine;

TEST(StepOutputs, PlacesValuesOfKnownSizeBeforeTheRun) {
  const Machine machine(testing::line());
  const FrameParts parts(machine.program());
  const eph_value& value = parts.values[parts.id("a")];
  EXPECT_EQ(value.data, parts.memory.place(parts.id("a")));
  EXPECT_EQ(value.byte_size, 8U);
}

TEST(StepOutputs, AllocatesAnOpenValueAndRecordsItsSize) {
  const Machine machine(testing::open_line());
  FrameParts parts(machine.program());
  const std::vector<int64_t> shape = {3};
  ASSERT_THAT(parts.outputs.allocate(parts.id("a"), ElementType::kFloat, shape), IsOk());
  EXPECT_NE(parts.values[parts.id("a")].data, nullptr);
  EXPECT_EQ(parts.outputs.traced_sizes()[parts.id("a")], 12U);
}

TEST(StepOutputs, KeepWhatTheyHadWhereMemoryRunsOut) {
  graph::Graph graph = testing::open_line();
  graph.values[graph.find_value("a")].type.shape.reset();
  const Machine machine(std::move(graph));
  FrameParts parts(machine.program());
  const graph::ValueId id = parts.id("a");
  const std::vector<int64_t> shape = {1, 3};
  ASSERT_THAT(parts.outputs.allocate(id, ElementType::kFloat, shape), IsOk());
  const std::vector<int64_t> huge = {int64_t{1} << 58, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(parts.outputs.allocate(id, ElementType::kFloat, huge).code(), StatusCode::kOutOfMemory);
  const eph_value& value = parts.values[id];
  EXPECT_EQ(std::vector(value.shape, value.shape + value.rank), shape);
}

TEST(StepOutputs, ForgetsAnOpenValueAfterTheRun) {
  const Machine machine(testing::open_line());
  FrameParts parts(machine.program());
  const std::vector<int64_t> shape = {3};
  ASSERT_THAT(parts.outputs.allocate(parts.id("a"), ElementType::kFloat, shape), IsOk());
  parts.outputs.end_run();
  EXPECT_EQ(parts.values[parts.id("a")].data, nullptr);
  EXPECT_FALSE(parts.outputs.traced_sizes()[parts.id("a")].has_value());
}

TEST(StepOutputs, RefusesAShapeThatTheModelDoesNotAdmit) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  const std::vector<int64_t> shape = {3};
  EXPECT_EQ(parts.outputs.allocate(parts.id("a"), ElementType::kFloat, shape).code(),
            StatusCode::kInvalidGraph);
}

TEST(StepOutputs, CopiesATensor) {
  const Machine machine(testing::open_line());
  FrameParts parts(machine.program());
  const Value tensor = *Value::of<float>({2}, std::vector<float>{4, 5});
  ASSERT_THAT(parts.outputs.copy(parts.id("a"), view_of(tensor)), IsOk());
  const eph_value& value = parts.values[parts.id("a")];
  EXPECT_NE(value.data, tensor.bytes().data());
  EXPECT_EQ(static_cast<const float*>(value.data)[1], 5);
}

TEST(StepOutputs, TakesOverATensorForAnOpenValue) {
  const Machine machine(testing::open_line());
  FrameParts parts(machine.program());
  Value tensor = *Value::of<float>({2}, std::vector<float>{4, 5});
  const std::byte* const memory = tensor.bytes().data();
  EXPECT_TRUE(*parts.outputs.take_over(parts.id("a"), tensor));
  EXPECT_EQ(parts.values[parts.id("a")].data, memory);
}

TEST(StepOutputs, TakesOverNothingWhereThePlanHasAPlace) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  Value tensor = *Value::of<float>({2}, std::vector<float>{4, 5});
  EXPECT_FALSE(*parts.outputs.take_over(parts.id("a"), tensor));
  EXPECT_TRUE(tensor.has_value());
}

TEST(StepOutputs, RefusesAnObjectOfAnotherType) {
  const Machine machine(testing::sequence_line());
  FrameParts parts(machine.program());
  const Value text = testing::sequence_of({*Value::of_strings({1}, {"x"})});
  EXPECT_EQ(parts.outputs.set_object(parts.id("s"), text).code(), StatusCode::kInvalidGraph);
}

}  // namespace
}  // namespace ephost::runtime::step_outputs_test
