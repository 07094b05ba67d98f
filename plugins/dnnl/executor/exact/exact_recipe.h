// exact_recipe.h: a recipe with nothing fused, for runs in which NaN may have been lost: each of
// its operations can be computed by code that keeps NaN.
#pragma once

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// What a recipe computes, with each post-op and each quantisation of a float as an operation of its
// own. Constants keep their numbers, and none is added. The recipe must have passed check_recipe;
// so does the result.
[[nodiscard]] Recipe exact_recipe(const Recipe& recipe);

}  // namespace ephost_dnnl
