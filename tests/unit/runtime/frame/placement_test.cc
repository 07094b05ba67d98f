#include "host/runtime/frame/placement.h"

#include <gtest/gtest.h>

#include <array>

namespace ephost::runtime::placement_test {
namespace {

// One input of two elements and one output.
struct Operands {
  std::array<int64_t, 2> shape = {1, 2};
  std::array<float, 2> memory = {};
  eph_value input = {};
  eph_value output = {};
  const eph_value* inputs[2] = {&input, nullptr};
  eph_value* outputs[1] = {&output};
  eph_run run = {};

  Operands() {
    input.data = output.data = memory.data();
    input.byte_size = output.byte_size = sizeof(memory);
    input.shape = output.shape = shape.data();
    input.rank = output.rank = 2;
    run.inputs = inputs;
    run.outputs = outputs;
    run.input_count = 2;
    run.output_count = 1;
  }
};

TEST(Placement, IsTheSameWhileOperandsAreWhereTheyWere) {
  Operands operands;
  Placement placement;
  const uint64_t first = placement.number(operands.run);
  EXPECT_NE(first, 0U);
  operands.memory = {1, 2};
  EXPECT_EQ(placement.number(operands.run), first) << "only the elements changed";
}

TEST(Placement, IsAnotherOneWhenAnythingMovesOrChangesItsShape) {
  Operands operands;
  Placement placement;
  uint64_t last = placement.number(operands.run);
  const auto expect_new = [&](const char* what) {
    const uint64_t now = placement.number(operands.run);
    EXPECT_GT(now, last) << what;
    EXPECT_EQ(placement.number(operands.run), now) << what;
    last = now;
  };
  operands.output.data = operands.memory.data() + 1;
  expect_new("an output");
  operands.input.data = nullptr;
  expect_new("an input");
  operands.shape = {2, 1};
  expect_new("a shape in the same place");
  operands.input.rank = 1;
  expect_new("a rank");
  operands.inputs[1] = &operands.output;
  expect_new("an input that was left out");
  operands.run.workspace = operands.memory.data();
  expect_new("a workspace");
}

}  // namespace
}  // namespace ephost::runtime::placement_test
