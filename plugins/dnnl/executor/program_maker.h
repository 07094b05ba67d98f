// program_maker.h: the maker of a working program from a recipe: assembles it, and if the library
// fails at a step, takes its next primitive for that operation. Called when a partition is
// compiled, and by a computation whose step fails in a run.
#pragma once

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// The program of a recipe, with its primitives; each step that is cheap has run once (trial.h).
// Counts in the recipe which primitives have failed. Throws NoWorkingPrimitive if all primitives
// of an operation fail, NoPrimitive if a primitive without an alternative does, and dnnl::error.
[[nodiscard]] Program make_working_program(Recipe& recipe, ConstantSource& constants,
                                           const dnnl::engine& engine, int threads,
                                           ChooseFunction choose = &choose_primitive);

// Makes the recipe use the next primitive for an operation. Throws NoPrimitive with the reason of
// the failure if there is none, as for a reorder, which belongs to no operation (kNoOp).
void pass_over(Recipe& recipe, uint32_t failed_op, const std::string& reason);

}  // namespace ephost_dnnl
