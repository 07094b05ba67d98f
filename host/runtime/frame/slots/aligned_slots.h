// The arguments of steps whose computations want values in host memory to be aligned to more than
// all memory of the host is (host_alignment in the ABI). What the plan places is aligned already;
// what lies elsewhere, as inputs and outputs of the application may, is copied before the step and
// copied back after it.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/program.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

// Steps that run in parallel may call these at the same time.
class AlignedSlots {
 public:
  // Borrows both.
  AlignedSlots(const Program& program, ValueTable& values);
  AlignedSlots(const AlignedSlots&) = delete;
  AlignedSlots& operator=(const AlignedSlots&) = delete;

  // Whether the arguments of the step are here rather than in the value table. The functions below
  // are for such steps only.
  [[nodiscard]] bool has(size_t step) const { return steps_[step] != nullptr; }
  // What stands for the value of a slot that is not left out. Stays where it is.
  [[nodiscard]] eph_value* input(size_t step, size_t slot) {
    return &steps_[step]->inputs[slot].view;
  }
  [[nodiscard]] eph_value* output(size_t step, size_t slot) {
    return &steps_[step]->outputs[slot].view;
  }

  // Takes the values over from the table. OUT_OF_MEMORY where memory runs out.
  [[nodiscard]] Status begin(size_t step);
  // The same for an output that got other memory while the step runs.
  [[nodiscard]] Status update_output(size_t step, size_t slot);
  // The same for an output whose content is in the table already.
  void keep_output(size_t step, size_t slot);
  // Copies outputs to where the table has them.
  void end(size_t step);

 private:
  struct Slot {
    graph::ValueId id = graph::kNoValue;
    eph_value view = {};
    AlignedMemory memory;  // kept for later runs
    uint64_t capacity = 0;
    bool is_written_back = false;
  };
  struct Step {
    uint64_t alignment = 0;
    std::vector<Slot> inputs;
    std::vector<Slot> outputs;
  };

  [[nodiscard]] Status reserve(const Step& step, Slot& slot) const;
  [[nodiscard]] Status take_output(Step& step, Slot& slot);

  const Program& program_;
  ValueTable& values_;
  std::vector<std::unique_ptr<Step>> steps_;  // by step; null for those without such a wish
};

}  // namespace ephost::runtime
