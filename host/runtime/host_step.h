// One step of a frame that the host runs itself, as the operator's code sees it: arguments, outputs
// to be given, and the frames of the node's bodies, which are kept for later iterations and runs.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/values/held_value.h"

namespace ephost::runtime {

class Frame;

// Belongs to its frame; one run at a time.
class HostStep {
 public:
  HostStep(Frame& frame, uint32_t step);
  HostStep(const HostStep&) = delete;
  HostStep& operator=(const HostStep&) = delete;
  ~HostStep();

  // "Loop node 'x'" for messages.
  [[nodiscard]] std::string describe() const;

  // Null where it is left out, and past the end.
  [[nodiscard]] const eph_value* input(size_t index) const;
  // An input that is there, for a body: a view of a tensor, a reference to anything else.
  [[nodiscard]] HeldValue hold_input(size_t index) const;
  [[nodiscard]] bool is_wanted(size_t output) const;
  // What the enclosing graph states of an output that is wanted.
  [[nodiscard]] const graph::ValueType& output_type(size_t output) const;
  // The output if it has its type, shape and memory already; else null.
  [[nodiscard]] const eph_value* place(size_t output) const;

  // Gives a wanted output its type, shape and memory, where it has not got just these.
  // INVALID_GRAPH where the model states others, FAIL where memory runs out.
  [[nodiscard]] Result<const eph_value*> allocate(size_t output, ElementType type,
                                                  std::span<const int64_t> shape);
  // An element of an output that is a tensor of strings and has its memory.
  void set_string(size_t output, uint64_t element, std::string_view text);
  // Makes `held` the output. Nothing is done where it lies in the output's place; its memory is
  // taken over where nobody else holds it and the plan has no place for the output; otherwise it is
  // copied. What is no tensor goes by reference. An output that is not wanted is dropped.
  [[nodiscard]] Status give(size_t output, HeldValue held);

  // Runs a body; see Frame::run_body.
  [[nodiscard]] Status run_body(size_t body, std::span<const HeldValue> inputs,
                                std::span<Value> outputs);
  // Of the last run of the body; valid until its next.
  [[nodiscard]] const eph_value& body_output(size_t body, size_t output) const;
  // The same where it is no tensor, taken out of the body; nothing for tensors.
  [[nodiscard]] std::optional<Value> take_body_object(size_t body, size_t output);

  // FAIL once the caller of the run asked for its end.
  [[nodiscard]] Status check_cancelled() const;

 private:
  [[nodiscard]] graph::ValueId output_id(size_t output) const;

  Frame& frame_;
  uint32_t step_;
  std::vector<std::unique_ptr<Frame>> bodies_;  // made when they are needed first
};

}  // namespace ephost::runtime
