// program_maker.h: from a recipe to a program that works: assembles it, and where the library fails
// at a step takes the next of its primitives for that operation. Called when a partition is
// compiled, and by a computation whose step fails in a run.
#pragma once

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// The program of a recipe, with its primitives; each step that is cheap has run once (trial.h).
// Counts in the recipe which primitives have failed. Throws NoPrimitive where one fails that
// has no other, and dnnl::error.
[[nodiscard]] Program make_working_program(Recipe& recipe, ConstantSource& constants,
                                           const dnnl::engine& engine, int threads);

// Makes a recipe take the next primitive for the operation of a step. Throws NoPrimitive, with the
// reason of the failure, where there is none: the step is a reorder.
void pass_over(Recipe& recipe, const Program& program, const StepFailed& failure);

}  // namespace ephost_dnnl
