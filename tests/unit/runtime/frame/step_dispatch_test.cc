#include "host/runtime/frame/step_dispatch.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/frame/frame_parts.h"

namespace ephost::runtime::step_dispatch_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using test::IsOk;
using testing::floats;
using testing::FrameParts;
using testing::Machine;
using testing::typed;

// Binds one input of two floats and the outputs.
Status bind(FrameParts& parts, const Value& x, std::vector<Value>& outputs) {
  const Value* const inputs[] = {&x};
  outputs.resize(1);
  EPHOST_RETURN_IF_ERROR(parts.bindings.bind_inputs(inputs));
  EPHOST_RETURN_IF_ERROR(parts.bindings.bind_outputs(outputs));
  parts.bindings.bind_followers();
  return Status::ok_status();
}

Value pair() { return *Value::of<float>({2}, std::vector<float>{1, -2}); }

TEST(StepDispatch, RunsTheStepsOfAStaticModelInOrder) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  const Value x = pair();
  std::vector<Value> outputs;
  ASSERT_THAT(bind(parts, x, outputs), IsOk());
  ASSERT_THAT(parts.dispatch.execute(true), IsOk());
  EXPECT_EQ(outputs[0].elements<float>()[0], -1);
  EXPECT_EQ(outputs[0].elements<float>()[1], 0);
}

TEST(StepDispatch, StartsNoStepOfACancelledRun) {
  const Machine machine(testing::line());
  FrameParts parts(machine.program());
  const Value x = pair();
  std::vector<Value> outputs;
  ASSERT_THAT(bind(parts, x, outputs), IsOk());
  const std::atomic<bool> cancelled{true};
  parts.stop.begin_run({.cancelled = &cancelled});
  EXPECT_EQ(parts.dispatch.execute(true).message(), "the run was cancelled before step 0 of 2");
}

TEST(StepDispatch, NamesTheStepThatFailed) {
  const Machine machine(
      typed(GraphBuilder().input("x", floats({2})).node("Fail", {"x"}, {"y"}).output("y").build(),
            floats({2})));
  FrameParts parts(machine.program());
  const Value x = pair();
  std::vector<Value> outputs;
  ASSERT_THAT(bind(parts, x, outputs), IsOk());
  const Status status = parts.dispatch.execute(true);
  EXPECT_EQ(status.code(), StatusCode::kEngineError);
  EXPECT_NE(status.message().find("Fail"), std::string::npos) << status.message();
}

TEST(StepDispatch, ReleasesOpenBuffersAfterTheirLastReader) {
  const Machine machine(testing::open_line());
  FrameParts parts(machine.program());
  const Value x = *Value::of<float>({4}, std::vector<float>{1, -2, 3, -4});
  std::vector<Value> outputs;
  ASSERT_THAT(bind(parts, x, outputs), IsOk());
  ASSERT_THAT(parts.dispatch.execute(parts.bindings.followers_fit()), IsOk());
  EXPECT_EQ(*parts.memory.take(parts.id("a"), 8), parts.values[parts.id("a")].data);
}

// A watch on long calls may look at a run at any moment, also at one without steps.
TEST(StepDispatch, NamesTheCallOfEachStepAndNoneForAGraphWithoutSteps) {
  const Machine machine(testing::line());
  const FrameParts parts(machine.program());
  EXPECT_EQ(parts.dispatch.call_site(0).kind, "Relu");
  EXPECT_EQ(parts.dispatch.call_site(2).provider, "");

  GraphBuilder builder;
  builder.constant("c", float_tensor({7, 8})).output("c");
  const Machine idle(typed(builder.build(), floats({2})));
  const FrameParts no_steps(idle.program());
  EXPECT_EQ(no_steps.dispatch.call_site(0).provider, "");
}

}  // namespace
}  // namespace ephost::runtime::step_dispatch_test
