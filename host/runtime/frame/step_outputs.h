// The type, shape and memory of the outputs of steps: where the memory pattern places them, in
// the caller's values, or in pooled blocks. What comes out is checked against the model.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/frame/bindings.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/program.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// Steps that run in parallel may make different values at the same time. A value that contradicts
// what the model declares is INVALID_GRAPH; OUT_OF_MEMORY is returned where memory runs out.
class StepOutputs {
 public:
  // Borrows all.
  StepOutputs(const Program& program, ValueTable& values, FrameMemory& memory, Bindings& bindings);
  StepOutputs(const StepOutputs&) = delete;
  StepOutputs& operator=(const StepOutputs&) = delete;

  // Places all values of known size that the memory pattern has an offset for. Call it when another
  // pattern was bound.
  void place_all();

  // Makes the value a tensor with undefined elements. `type` may be kUndefined where the model
  // declares it.
  [[nodiscard]] Status allocate(graph::ValueId id, ElementType type,
                                std::span<const int64_t> shape);
  // Makes the value a copy of a tensor in host memory, in the location that the plan gives.
  [[nodiscard]] Status copy(graph::ValueId id, const eph_value& tensor);
  // Makes the memory of `tensor` that of the value. False, and nothing is done, where the plan or
  // the caller has a place for the value.
  [[nodiscard]] Result<bool> take_over(graph::ValueId id, Value& tensor);
  // Sets a value that is not a tensor by its type.
  [[nodiscard]] Status set_object(graph::ValueId id, Value value);

  // By value id: the sizes that were only found out in this run.
  [[nodiscard]] const std::vector<std::optional<uint64_t>>& traced_sizes() const {
    return traced_sizes_;
  }
  // Forgets values whose memory was only for this run.
  void end_run();

 private:
  [[nodiscard]] Status check_tensor(graph::ValueId id, ElementType type,
                                    std::span<const int64_t> shape) const;
  Status allocate_text(graph::ValueId id, uint64_t bytes, std::span<const int64_t> shape);
  [[nodiscard]] Result<std::byte*> memory_for(graph::ValueId id, uint64_t bytes);
  Status wrong_kind(graph::ValueId id, const eph_value& value) const;

  const Program& program_;
  ValueTable& values_;
  FrameMemory& memory_;
  Bindings& bindings_;
  std::vector<std::optional<uint64_t>> traced_sizes_;
};

}  // namespace ephost::runtime
