// The parts of a frame without the frame, for tests of one part with those that it works on.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "host/runtime/frame/bindings.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/step_dispatch.h"
#include "host/runtime/frame/step_outputs.h"
#include "host/runtime/frame/step_runs.h"
#include "host/runtime/frame/stop_signal.h"
#include "host/runtime/frame/value_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/machine.h"

namespace ephost::runtime::testing {

// Wired as in a frame; the program's own memory pattern is bound.
struct FrameParts {
  explicit FrameParts(const Program& of)
      : program(of),
        values(of),
        memory(of),
        bindings(of, values, memory),
        outputs(of, values, memory, bindings),
        runs(of, values, memory, outputs, stop),
        dispatch(of, *create_states(of), {values, memory, outputs, runs, stop}) {
    EXPECT_THAT(memory.bind(nullptr), test::IsOk());
    outputs.place_all();
    dispatch.bind_pattern();
  }

  [[nodiscard]] graph::ValueId id(std::string_view name) const {
    return program.graph().find_value(name);
  }

  const Program& program;
  ValueTable values;
  FrameMemory memory;
  Bindings bindings;
  StepOutputs outputs;
  StopSignal stop;
  StepRuns runs;
  StepDispatch dispatch;
};

// y = Negate(Relu(x)), of two floats.
inline graph::Graph line() {
  graph::testing::GraphBuilder builder;
  builder.input("x", floats({2})).node("Relu", {"x"}, {"a"}).node("Negate", {"a"}, {"y"});
  return typed(builder.output("y").build(), floats({2}));
}

// y = Negate(the positive elements of x): nothing is known about their number.
inline graph::Graph open_line() {
  graph::testing::GraphBuilder builder;
  builder.input("x", floats({4})).node("Positives", {"x"}, {"a"}).node("Negate", {"a"}, {"y"});
  return typed(builder.output("y").build(), floats({-1}));
}

// y = x, both sequences of floats.
inline graph::Graph sequence_line() {
  graph::ValueType type;
  type.kind = graph::ValueKind::kSequence;
  type.nested =
      std::make_shared<graph::ValueType>(graph::testing::tensor_type(ElementType::kFloat));
  graph::testing::GraphBuilder builder;
  builder.input("x", type).node("SeqPass", {"x"}, {"s"}).node("SeqPass", {"s"}, {"y"});
  return typed(builder.output("y").build(), type);
}

inline Value sequence_of(std::vector<Value> elements) {
  return *Value::sequence(std::move(elements));
}

}  // namespace ephost::runtime::testing
