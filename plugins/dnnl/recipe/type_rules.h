// type_rules.h: the element types that each operation reads and writes. What is not listed reads
// and writes floats. Called by the check of a recipe and by lowering.
#pragma once

#include <limits>
#include <vector>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// The integers that a type holds.
struct IntegerRange {
  int64_t least = 0;
  int64_t greatest = 0;
};
[[nodiscard]] constexpr IntegerRange range_of(ElementType type) {
  return type == ElementType::kS8 ? IntegerRange{-128, 127} : IntegerRange{0, 255};
}

// Whether a scale can be multiplied with and divided by.
[[nodiscard]] bool is_valid_scale(float scale);

// The type of the output of an operation that has no quantization. Throws InvalidRecipe if the
// operation does not take these inputs.
[[nodiscard]] ElementType infer_output_type(const Parameters& parameters,
                                            const std::vector<ElementType>& inputs);

// Throws InvalidRecipe unless the operation reads and writes the types that its tensors have, and
// its scales and zero points are valid. Inputs and shapes have been checked.
void check_types(const Recipe& recipe, const Op& op);

}  // namespace ephost_dnnl
