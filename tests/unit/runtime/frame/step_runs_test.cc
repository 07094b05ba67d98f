#include "host/runtime/frame/step_runs.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/frame/frame_parts.h"

namespace ephost::runtime::step_runs_test {
namespace {

using testing::FrameParts;
using testing::Machine;

// The callbacks of the first step, as its computation calls them.
class Callbacks : public ::testing::Test {
 protected:
  explicit Callbacks(graph::Graph graph = testing::open_line()) : machine_(std::move(graph)) {}

  [[nodiscard]] int32_t allocate(uint32_t index, const int64_t* shape, uint32_t rank) {
    return run().api->allocate_output(&run(), index, EPH_ELEMENT_FLOAT, shape, rank, &error_);
  }
  [[nodiscard]] eph_run& run() { return parts_.runs[0]; }
  [[nodiscard]] std::string message() {
    return error_.to_status(EPH_FAIL, "the step", "computing").message();
  }

  Machine machine_;
  FrameParts parts_{machine_.program()};
  bridge::ErrorSink error_;
};

TEST_F(Callbacks, AStepSeesItsInputsAndOutputs) {
  ASSERT_EQ(run().input_count, 1U);
  ASSERT_EQ(run().output_count, 1U);
  EXPECT_EQ(run().inputs[0], &parts_.values[parts_.id("x")]);
  EXPECT_EQ(run().outputs[0], &parts_.values[parts_.id("a")]);
}

TEST_F(Callbacks, AllocateAnOutput) {
  const int64_t shape[] = {3};
  ASSERT_EQ(allocate(0, shape, 1), EPH_OK) << message();
  EXPECT_EQ(run().outputs[0]->byte_size, 12U);
}

TEST_F(Callbacks, RefuseAnOutputThatDoesNotExist) {
  const int64_t shape[] = {3};
  EXPECT_EQ(allocate(1, shape, 1), EPH_INVALID_ARGUMENT);
  EXPECT_NE(message().find("output 1 does not exist"), std::string::npos);
}

TEST_F(Callbacks, RefuseAShapeThatIsANullPointer) {
  EXPECT_EQ(allocate(0, nullptr, 1), EPH_INVALID_ARGUMENT);
  EXPECT_NE(message().find("null pointer"), std::string::npos);
}

TEST_F(Callbacks, RefuseAStringElementThatDoesNotExist) {
  EXPECT_EQ(run().api->set_string(&run(), 0, 5, {"x", 1}, &error_), EPH_INVALID_ARGUMENT);
  EXPECT_NE(message().find("no string element 5"), std::string::npos);
}

TEST_F(Callbacks, GiveScratchMemoryOfTheLane) {
  EXPECT_NE(run().api->allocate_scratch(&run(), 1000), nullptr);
  EXPECT_EQ(run().api->allocate_scratch(&run(), UINT64_MAX / 2), nullptr);
}

TEST_F(Callbacks, RefuseScratchMemoryOfDevicesThatThereAreNot) {
  void* data = &error_;
  EXPECT_EQ(run().api->allocate_in(&run(), 0, 64, &data, &error_), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(run().api->allocate_in(&run(), 1, 64, &data, &error_), EPH_INVALID_ARGUMENT);
  EXPECT_NE(message().find("no memory 1"), std::string::npos);
}

TEST_F(Callbacks, TellThatTheRunIsCancelled) {
  std::atomic<bool> cancelled{false};
  parts_.stop.begin_run({.cancelled = &cancelled});
  EXPECT_EQ(run().api->is_cancelled(&run()), 0);
  cancelled = true;
  EXPECT_EQ(run().api->is_cancelled(&run()), 1);
}

TEST_F(Callbacks, CopyAValueThatTheStepMadeToItsOutput) {
  const int64_t shape[] = {2};
  eph_value* made = nullptr;
  ASSERT_EQ(run().api->make_tensor(&run(), EPH_ELEMENT_FLOAT, shape, 1, &made, &error_), EPH_OK);
  static_cast<float*>(made->data)[1] = 6;
  ASSERT_EQ(run().api->set_output(&run(), 0, made, &error_), EPH_OK) << message();
  EXPECT_EQ(static_cast<const float*>(parts_.values[parts_.id("a")].data)[1], 6);
}

// A worker's bytes are written to where the view of a made tensor says.
TEST_F(Callbacks, KeepATensorThatIsNoSequenceToBeginWith) {
  const int64_t shape[] = {1000};
  eph_value* made = nullptr;
  ASSERT_EQ(run().api->make_tensor(&run(), EPH_ELEMENT_FLOAT, shape, 1, &made, &error_), EPH_OK);
  const eph_value* sequence = nullptr;
  EXPECT_EQ(run().api->make_sequence(&run(), made, 0, 0, nullptr, 0, &sequence, &error_),
            EPH_INVALID_ARGUMENT);
  static_cast<float*>(made->data)[999] = 6;
  ASSERT_EQ(run().api->set_output(&run(), 0, made, &error_), EPH_OK) << message();
  EXPECT_EQ(static_cast<const float*>(parts_.values[parts_.id("a")].data)[999], 6);
}

TEST_F(Callbacks, LeaveNothingOfASequenceThatBecameAnother) {
  const int64_t shape[] = {2};
  eph_value* made = nullptr;
  ASSERT_EQ(run().api->make_tensor(&run(), EPH_ELEMENT_FLOAT, shape, 1, &made, &error_), EPH_OK);
  const eph_value* base = nullptr;
  const eph_value* const parts[] = {made};
  ASSERT_EQ(run().api->make_sequence(&run(), nullptr, 0, 0, parts, 1, &base, &error_), EPH_OK);
  const eph_value* longer = nullptr;
  ASSERT_EQ(run().api->make_sequence(&run(), base, 1, 0, parts, 1, &longer, &error_), EPH_OK);
  EXPECT_EQ(longer->byte_size, 2 * sizeof(eph_value));
  EXPECT_EQ(base->byte_size, 0U);
}

// The output is an object, to which a tensor would be moved if it fitted.
class CallbacksOfSequences : public Callbacks {
 protected:
  CallbacksOfSequences() : Callbacks(testing::sequence_line()) {}
};

TEST_F(CallbacksOfSequences, KeepATensorThatTheOutputRefuses) {
  const int64_t shape[] = {1000};
  eph_value* made = nullptr;
  ASSERT_EQ(run().api->make_tensor(&run(), EPH_ELEMENT_FLOAT, shape, 1, &made, &error_), EPH_OK);
  static_cast<float*>(made->data)[999] = 6;
  EXPECT_EQ(run().api->set_output(&run(), 0, made, &error_), EPH_INVALID_GRAPH);
  const eph_value* sequence = nullptr;
  const eph_value* const parts[] = {made};
  ASSERT_EQ(run().api->make_sequence(&run(), nullptr, 0, 0, parts, 1, &sequence, &error_), EPH_OK);
  const auto* const elements = static_cast<const eph_value*>(sequence->data);
  EXPECT_EQ(static_cast<const float*>(elements[0].data)[999], 6);
}

TEST_F(CallbacksOfSequences, SetAValueTwice) {
  const eph_value* sequence = nullptr;
  ASSERT_EQ(run().api->make_sequence(&run(), nullptr, 0, 0, nullptr, 0, &sequence, &error_),
            EPH_OK);
  EXPECT_EQ(run().api->set_output(&run(), 0, sequence, &error_), EPH_OK) << message();
  EXPECT_EQ(run().api->set_output(&run(), 0, sequence, &error_), EPH_OK) << message();
}

TEST_F(Callbacks, ForgetAMadeValueWhenTheStepEnds) {
  const int64_t shape[] = {2};
  eph_value* made = nullptr;
  ASSERT_EQ(run().api->make_tensor(&run(), EPH_ELEMENT_FLOAT, shape, 1, &made, &error_), EPH_OK);
  parts_.runs.end_step(0);
  EXPECT_EQ(run().api->set_output(&run(), 0, made, &error_), EPH_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace ephost::runtime::step_runs_test
