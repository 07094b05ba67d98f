// The arguments of steps whose computations change inputs where they are (must_share in the ABI).
// Where the plan and the application have not given both sides of a pair the same memory, the input
// is copied to the output before the step, and the computation sees it there.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/bridge/extensions/stream.h"
#include "host/runtime/frame/slots/aligned_slots.h"
#include "host/runtime/frame/step_outputs.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

// Steps that run in parallel may call these at the same time.
class SharedSlots {
 public:
  // Borrows all.
  SharedSlots(const Program& program, ValueTable& values, AlignedSlots& aligned,
              StepOutputs& outputs);
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;

  // Whether any input of the step is here. The functions below are for such steps only.
  [[nodiscard]] bool has(size_t step) const { return steps_[step] != nullptr; }
  // What stands for an input; null for one that is where the others are. Stays where it is.
  [[nodiscard]] eph_value* input(size_t step, size_t slot);

  // Whether the pairs share their memory already, so that nothing is copied. To be called when all
  // values of the step have their memory.
  [[nodiscard]] bool bind(size_t step);
  // Gives the outputs their memory and copies what does not share it, on a stream or at once. Where
  // host memory is copied, nothing that is enqueued uses it. INVALID_GRAPH for a pair of values
  // that differ in size.
  [[nodiscard]] Status begin(size_t step, const bridge::Stream* stream);
  // Whether `begin` would copy host memory.
  [[nodiscard]] bool copies_in_host(size_t step) const;

 private:
  struct Pair {
    size_t input = 0;  // the slot
    size_t output = 0;
    graph::ValueId input_id = graph::kNoValue;
    graph::ValueId output_id = graph::kNoValue;
    const eph_value* from = nullptr;
    const eph_value* to = nullptr;
    eph_value view = {};
  };
  using Pairs = std::vector<Pair>;

  Status prepare(size_t step, Pair& pair);
  Status copy(size_t step, const Pair& pair, const bridge::Stream* stream) const;

  const Program& program_;
  AlignedSlots& aligned_;
  StepOutputs& outputs_;
  std::vector<std::unique_ptr<Pairs>> steps_;  // by step; null for those without pairs
};

}  // namespace ephost::runtime
