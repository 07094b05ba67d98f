// One step of a frame that the host runs itself, as the operator sees it: its inputs and outputs,
// and the frames of the node's bodies, which are kept for later iterations and runs.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/extensions/stream.h"
#include "host/graph/graph.h"
#include "host/runtime/values/held_value.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

class Frame;
class Program;
class StepOutputs;
class StopSignal;
class ValueTable;

// Belongs to its frame; one run at a time.
class HostStep {
 public:
  // Borrows all; they belong to the frame.
  HostStep(const Program& program, uint32_t step, ValueTable& values, StepOutputs& outputs,
           const StopSignal& stop);
  HostStep(const HostStep&) = delete;
  HostStep& operator=(const HostStep&) = delete;
  ~HostStep();

  // "Loop node 'x'" for messages.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] uint32_t number() const { return step_; }

  // The stream on which the operator enqueues its work; null: its work is done when it returns.
  [[nodiscard]] const bridge::Stream* stream() const { return stream_; }
  void set_stream(const bridge::Stream* stream) { stream_ = stream; }

  // Null where the input is left out, and past the end.
  [[nodiscard]] const eph_value* input(size_t index) const;
  // An input that is not left out, for a body: a view of a tensor, a reference to anything else.
  [[nodiscard]] HeldValue hold_input(size_t index) const;
  [[nodiscard]] bool is_wanted(size_t output) const;
  // The type that the enclosing graph declares for a wanted output.
  [[nodiscard]] const graph::ValueType& output_type(size_t output) const;
  // The output if it already has its type, shape and memory; else null.
  [[nodiscard]] const eph_value* place(size_t output) const;

  // Gives a wanted output its type, shape and memory, unless it has the same already. INVALID_GRAPH
  // where the model declares other ones, OUT_OF_MEMORY where memory runs out.
  [[nodiscard]] Result<const eph_value*> allocate(size_t output, ElementType type,
                                                  std::span<const int64_t> shape);
  // Sets an element of an allocated output that is a tensor of strings.
  void set_string(size_t output, uint64_t element, std::string_view text);
  // Makes `held` the output. Nothing is done where it lies in the output's place. Its memory is
  // taken over where it has no other owner and the plan has no place for the output; otherwise it
  // is copied. A value that is not a tensor goes by reference. An unwanted output is dropped.
  [[nodiscard]] Status give(size_t output, HeldValue held);

  // Runs a body; see Frame::run_body.
  [[nodiscard]] Status run_body(size_t body, std::span<const HeldValue> inputs,
                                std::span<Value> outputs);
  // An output of the last run of the body; valid until its next run.
  [[nodiscard]] const eph_value& body_output(size_t body, size_t output) const;
  // An output that is not a tensor, taken out of the body; nothing for a tensor.
  [[nodiscard]] std::optional<Value> take_body_object(size_t body, size_t output);

  // Why, once the run has to end early: CANCELLED, DEADLINE_EXCEEDED, or FAIL for another step's
  // sake.
  [[nodiscard]] Status check_cancelled() const;

 private:
  [[nodiscard]] graph::ValueId output_id(size_t output) const;

  const Program& program_;
  uint32_t step_;
  ValueTable& values_;
  StepOutputs& outputs_;
  const StopSignal& stop_;
  const bridge::Stream* stream_ = nullptr;
  std::vector<std::unique_ptr<Frame>> bodies_;  // created when they first run
};

}  // namespace ephost::runtime
