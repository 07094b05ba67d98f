// guarded_step.h: one run of a primitive in guarded memory, to see whether it stays inside its
// arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/library/guarded_memory.h"

namespace ephost_dnnl {

// An argument of a primitive on trial. Those of one buffer share its memory.
struct TrialArgument {
  int argument = 0;  // DNNL_ARG_*
  Descriptor layout;
  uint32_t buffer = 0;
  const void* content = nullptr;  // null: zeros
};

// An access of a primitive outside of its arguments.
struct StepTouch {
  int argument = 0;  // DNNL_ARG_*
  Touch touch;
};

// "writes 8 bytes behind argument 17"
[[nodiscard]] std::string to_text(const StepTouch& touch);

// Runs the primitive with each argument at the end of a page, and with each at the beginning of
// one. Throws dnnl::error if the library refuses to run it, and std::bad_alloc.
//
// Floating-point operations on zeros cannot trap, whatever they divide by.
[[nodiscard]] std::optional<StepTouch> find_touch(const dnnl::primitive& primitive,
                                                  const std::vector<TrialArgument>& arguments,
                                                  const dnnl::engine& engine);

// The same with the arguments of a step, and copies of the program's constants and parameters, for
// the step's own primitive or another one. Throws StepFailed where the library refuses.
[[nodiscard]] std::optional<StepTouch> find_touch(const Program& program, std::size_t step,
                                                  const dnnl::primitive& primitive,
                                                  const dnnl::engine& engine);

}  // namespace ephost_dnnl
