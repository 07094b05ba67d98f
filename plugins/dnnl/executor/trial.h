// trial.h: whether the steps of a program work, found out before anybody depends on them. The
// library refuses some arguments only when a primitive runs.
#pragma once

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Runs each step that is cheap once, on zeros and the program's own constants; checks of the others
// that their arguments lie as their primitives ask for. The program belongs to the recipe and has
// its primitives. Throws StepFailed for the first step that doesn't work.
//
// Floating-point operations on zeros cannot trap, whatever they divide by.
void try_out(const Recipe& recipe, const Program& program, const dnnl::engine& engine);

// Multiplications or elements that an operation takes, about.
[[nodiscard]] double work_of(const Recipe& recipe, const Op& op);

}  // namespace ephost_dnnl
