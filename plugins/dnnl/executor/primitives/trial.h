// trial.h: tests whether the steps of a program work before anything depends on them: the library
// refuses some arguments only when a primitive runs, and some of its primitives read or write
// beyond their arguments (guarded_step.h).
#pragma once

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Runs each step that is not too expensive in guarded memory, on zeros and the program's own
// constants, and then on NaN (nan_trial.h); of the other steps, it checks that their arguments have
// the layouts that their primitives require. The program was made from the recipe and has its
// primitives. Throws StepFailed for the first step that does not work.
void try_out(const Recipe& recipe, const Program& program, const dnnl::engine& engine);

// The approximate number of multiplications or elements of an operation.
[[nodiscard]] double work_of(const Recipe& recipe, const Op& op);

}  // namespace ephost_dnnl
