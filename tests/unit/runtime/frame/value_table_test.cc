#include "host/runtime/frame/value_table.h"

#include <gtest/gtest.h>

#include "host/runtime/values/composite.h"
#include "tests/unit/runtime/frame/frame_parts.h"

namespace ephost::runtime::value_table_test {
namespace {

using testing::floats;
using testing::Machine;

TEST(ValueTable, HoldsConstantsFromTheStart) {
  graph::testing::GraphBuilder builder;
  builder.input("x", floats({2})).constant("c", graph::testing::float_tensor({7, 8}));
  builder.node("Add", {"x", "c"}, {"y"}).output("y");
  const Machine machine(testing::typed(builder.build(), floats({2})));
  const ValueTable values(machine.program());
  const eph_value& constant = values[machine.program().graph().find_value("c")];
  EXPECT_EQ(static_cast<const float*>(constant.data)[1], 8);
}

TEST(ValueTable, TellsWhetherAValueGotOtherMemory) {
  const Machine machine(testing::line());
  ValueTable values(machine.program());
  std::vector<float> memory(4);
  const std::vector<int64_t> shape = {2};
  values.set_tensor(0, memory.data(), 8, ElementType::kFloat, shape);
  values.reset_moved();
  values.set_tensor(0, memory.data(), 8, ElementType::kFloat, shape);
  EXPECT_FALSE(values.has_moved());
  values.set_tensor(0, memory.data() + 2, 8, ElementType::kFloat, shape);
  EXPECT_TRUE(values.has_moved());
}

TEST(ValueTable, TellsThatAViewMoved) {
  const Machine machine(testing::line());
  ValueTable values(machine.program());
  values.reset_moved();
  const Value elsewhere = *Value::of<float>({2}, std::vector<float>{1, 2});
  values.set_view(0, view_of(elsewhere));
  EXPECT_TRUE(values.has_moved());
}

TEST(ValueTable, KeepsACopyOfAShape) {
  const Machine machine(testing::line());
  ValueTable values(machine.program());
  std::vector<int64_t> given = {3, 4};
  const std::span<const int64_t> kept = values.keep_shape(1, given);
  given = {0, 0};
  EXPECT_EQ(kept[1], 4);
  EXPECT_EQ(values.keep_shape(1, kept).size(), 2U);
}

TEST(ValueTable, HasObjectsForValuesThatAreNotTensors) {
  const Machine tensors(testing::line());
  const Machine sequences(testing::sequence_line());
  EXPECT_EQ(ValueTable(tensors.program()).object(0), nullptr);
  EXPECT_NE(ValueTable(sequences.program()).object(0), nullptr);
}

TEST(ValueTable, DropsObjectsAtTheEndOfARunButForOutputsThatAreKept) {
  const Machine machine(testing::sequence_line());
  testing::FrameParts parts(machine.program());
  const Value value = testing::sequence_of({*Value::of<float>({1}, std::vector<float>{1})});
  for (const char* name : {"s", "y"}) parts.values.set_object(parts.id(name), value);
  parts.values.end_run(true);
  EXPECT_FALSE(parts.values.object(parts.id("s"))->has_value());
  EXPECT_TRUE(parts.values.object(parts.id("y"))->has_value());
  parts.values.end_run(false);
  EXPECT_FALSE(parts.values.object(parts.id("y"))->has_value());
}

TEST(AdmitsTensor, ComparesStatedExtentsOnly) {
  const graph::ValueType type = floats({2, -1});
  const std::vector<int64_t> good = {2, 9};
  const std::vector<int64_t> bad = {3, 9};
  const std::vector<int64_t> short_shape = {2};
  EXPECT_TRUE(admits_tensor(type, ElementType::kFloat, good));
  EXPECT_FALSE(admits_tensor(type, ElementType::kFloat, bad));
  EXPECT_FALSE(admits_tensor(type, ElementType::kFloat, short_shape));
  EXPECT_FALSE(admits_tensor(type, ElementType::kInt32, good));
}

TEST(AdmitsTensor, AdmitsAnyTensorWhereTheModelStatesNothing) {
  EXPECT_TRUE(admits_tensor({}, ElementType::kBool, std::vector<int64_t>{5}));
}

}  // namespace
}  // namespace ephost::runtime::value_table_test
