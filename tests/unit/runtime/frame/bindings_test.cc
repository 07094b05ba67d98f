#include "host/runtime/frame/bindings.h"

#include <gtest/gtest.h>

#include "host/runtime/values/composite.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/frame/frame_parts.h"

namespace ephost::runtime::bindings_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using testing::floats;
using testing::FrameParts;
using testing::Machine;
using testing::typed;

Value tensor(const std::vector<int64_t>& shape, const std::vector<float>& elements) {
  return *Value::of<float>(shape, elements);
}

TEST(Bindings, BindAnInputWithoutCopyingIt) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  const Value x = tensor({2}, {1, 2});
  const Value* const inputs[] = {&x};
  ASSERT_THAT(parts.bindings.bind_inputs(inputs), IsOk());
  EXPECT_EQ(parts.values[parts.id("x")].data, x.bytes().data());
}

TEST(Bindings, RefuseAnInputOfAnotherElementType) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  const Value x = *Value::of<int32_t>({2}, std::vector<int32_t>{1, 2});
  const Value* const inputs[] = {&x};
  EXPECT_EQ(parts.bindings.bind_inputs(inputs).code(), StatusCode::kInvalidArgument);
}

TEST(Bindings, KeyARunByRankAndExtentsOfItsInputs) {
  const Machine machine(typed(
      GraphBuilder().input("x", floats({-1, -1})).node("Negate", {"x"}, {"y"}).output("y").build(),
      floats({-1, -1})));
  FrameParts parts(machine.program());
  const Value x = tensor({3, 1}, {1, 2, 3});
  const Value* const inputs[] = {&x};
  ASSERT_THAT(parts.bindings.bind_inputs(inputs), IsOk());
  EXPECT_EQ(parts.bindings.shape_key(), (ShapeKey{2, 3, 1}));
}

TEST(Bindings, KeyAnInputThatIsNotATensorWithoutAShape) {
  const Machine machine(testing::sequence_line());
  FrameParts parts(machine.program());
  const Value x = testing::sequence_of({tensor({1}, {1})});
  const Value* const inputs[] = {&x};
  ASSERT_THAT(parts.bindings.bind_inputs(inputs), IsOk());
  ASSERT_EQ(parts.bindings.shape_key().size(), 1U);
  EXPECT_LT(parts.bindings.shape_key()[0], 0);
}

TEST(Bindings, GiveStepsTheMemoryOfTheCallersOutput) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  std::vector<Value> outputs = {*Value::allocate(ElementType::kFloat, {2})};
  const std::byte* const memory = outputs[0].bytes().data();
  ASSERT_THAT(parts.bindings.bind_outputs(outputs), IsOk());
  EXPECT_EQ(parts.values[parts.id("y")].data, memory);
}

TEST(Bindings, ReplaceAnOutputOfAnotherType) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  std::vector<Value> outputs = {*Value::allocate(ElementType::kInt64, {2})};
  ASSERT_THAT(parts.bindings.bind_outputs(outputs), IsOk());
  EXPECT_EQ(outputs[0].element_type(), ElementType::kFloat);
}

// y = Reshape(x), a view of the input.
graph::Graph view_of_input() {
  GraphBuilder builder;
  builder.input("x", floats({2, 2})).node("Reshape", {"x"}, {"v"}).node("Relu", {"v"}, {"y"});
  return typed(builder.output("y").build(), floats({4}));
}

TEST(Bindings, FollowersMoveWithTheInputThatTheyLieIn) {
  const Machine machine(view_of_input());
  FrameParts parts(machine.program());
  for (const Value& x : {tensor({2, 2}, {1, 2, 3, 4}), tensor({2, 2}, {5, 6, 7, 8})}) {
    const Value* const inputs[] = {&x};
    ASSERT_THAT(parts.bindings.bind_inputs(inputs), IsOk());
    parts.bindings.bind_followers();
    EXPECT_TRUE(parts.bindings.followers_fit());
    EXPECT_EQ(parts.values[parts.id("v")].data, x.bytes().data());
  }
}

TEST(Bindings, FollowersDoNotFitWhileTheirRootHasNoMemory) {
  const Machine machine(view_of_input());
  FrameParts parts(machine.program());
  parts.bindings.bind_followers();
  EXPECT_FALSE(parts.bindings.followers_fit());
}

TEST(Bindings, CopyAnOutputThatIsAnInput) {
  const Machine machine(
      typed(GraphBuilder().input("x", floats({2})).output("x").build(), floats({2})));
  FrameParts parts(machine.program());
  const Value x = tensor({2}, {1, 2});
  const Value* const inputs[] = {&x};
  std::vector<Value> outputs(1);
  ASSERT_THAT(parts.bindings.bind_inputs(inputs), IsOk());
  ASSERT_THAT(parts.bindings.bind_outputs(outputs), IsOk());
  ASSERT_THAT(parts.bindings.collect_outputs(), IsOk());
  EXPECT_NE(outputs[0].bytes().data(), x.bytes().data());
  EXPECT_EQ(outputs[0].elements<float>()[1], 2);
}

}  // namespace
}  // namespace ephost::runtime::bindings_test
