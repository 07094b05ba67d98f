// The arguments of steps whose computations take values in memories of other providers: those that
// share addresses with one of their own, or that the host can read and write. The computation sees
// the number of its own memory.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

// Steps that run in parallel may call these at the same time.
class ForeignSlots {
 public:
  // Borrows both.
  ForeignSlots(const Program& program, ValueTable& values);
  ForeignSlots(const ForeignSlots&) = delete;
  ForeignSlots& operator=(const ForeignSlots&) = delete;

  // Whether any argument of the step is here. The functions below are for such steps only.
  [[nodiscard]] bool has(size_t step) const { return !steps_[step].empty(); }
  // What stands for an argument; null for one that is in the value table. Stays where it is.
  [[nodiscard]] eph_value* input(size_t step, size_t slot) { return find(step, false, slot); }
  [[nodiscard]] eph_value* output(size_t step, size_t slot) { return find(step, true, slot); }

  // Takes the values over from the table. Also to be called for an output that got other memory
  // while the step runs.
  void update(size_t step);

 private:
  struct Slot {
    bool is_output = false;
    size_t number = 0;
    graph::ValueId id = graph::kNoValue;
    uint32_t memory = 0;  // as the step's provider numbers it
    eph_value view = {};
  };

  [[nodiscard]] eph_value* find(size_t step, bool is_output, size_t slot);

  ValueTable& values_;
  std::vector<std::vector<Slot>> steps_;  // by step
};

}  // namespace ephost::runtime
