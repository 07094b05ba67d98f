// An execution frame: everything that one run of a program needs at a time. What does not depend on
// the inputs is bound when the frame is created. Frames of one program may run in parallel; a frame
// itself is not thread-safe.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host/bridge/computation.h"
#include "host/runtime/frame/bindings.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/run_control.h"
#include "host/runtime/frame/step_dispatch.h"
#include "host/runtime/frame/step_outputs.h"
#include "host/runtime/frame/step_runs.h"
#include "host/runtime/frame/stop_signal.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/pattern_cache.h"
#include "host/runtime/program.h"
#include "host/runtime/values/held_value.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

class Frame {
 public:
  // Creates the states of all computations and takes the memory of the program's pattern. The
  // program is borrowed. OUT_OF_MEMORY where memory runs out.
  static Result<std::unique_ptr<Frame>> create(const Program& program);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Runs the program. `inputs` has one entry for each graph input; null takes the input's default.
  // `outputs` has one for each graph output: one with the right type and shape is written in place,
  // any other is replaced by a value of its own memory. Types and shapes are checked against the
  // model's. Setting the flag of `control` from another thread, or its deadline, ends the run.
  [[nodiscard]] Status run(std::span<const Value* const> inputs, std::span<Value> outputs,
                           const RunControl& control);

  // Runs the program as the body of a control-flow node. It captures values of the enclosing frame
  // and stops when that frame's run does. Inputs outlive the run; an input that is not a tensor and
  // that has no other owner is taken out. `outputs` are memory for what the body computes, as in
  // `run`; outputs that the body only passes on leave theirs alone. Read the results with `output`.
  [[nodiscard]] Status run_body(const ValueTable& enclosing, const StopSignal& enclosing_stop,
                                std::span<const HeldValue> inputs, std::span<Value> outputs);
  // An output of the last `run_body`. It lies in the memory that was given or made for it, in an
  // input, a captured value or a constant; text lies in this frame until its next run.
  [[nodiscard]] const eph_value& output(size_t index) const {
    return values_[program_.graph().outputs[index]];
  }
  // An output of the last `run_body` that is not a tensor, taken out of the frame; nothing for a
  // tensor.
  [[nodiscard]] std::optional<Value> take_output_object(size_t index);

  // Bytes of host memory for intermediate values that are held between runs, for tests and reports.
  [[nodiscard]] uint64_t held_bytes() const { return memory_.held_bytes(); }

 private:
  Frame(const Program& program, std::vector<bridge::ComputationState> states);

  Status bind_pattern(std::shared_ptr<const TracedPattern> traced);
  Status choose_pattern();
  Status execute(std::span<Value> outputs);
  Status trace_pattern();
  void end_run(bool keeps_outputs);

  const Program& program_;
  ValueTable values_;
  FrameMemory memory_;
  Bindings bindings_;
  StepOutputs step_outputs_;
  StopSignal stop_;
  StepRuns runs_;
  StepDispatch dispatch_;
  ShapeKey last_body_key_;
};

}  // namespace ephost::runtime
