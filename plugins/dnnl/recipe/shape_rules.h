// shape_rules.h: the output dimensions of every operation, and the check that a recipe obeys them.
// The check is what makes a recipe from a file as safe as one from lowering: whatever passes it can
// be given to the assembler.
#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Says which rule an operation or a recipe breaks.
class InvalidRecipe : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws InvalidRecipe with the message unless the condition holds.
void require(bool condition, std::string_view message);

// Dimensions of the output of an operation on inputs of these dimensions. Throws InvalidRecipe if
// the parameters and inputs are inconsistent.
[[nodiscard]] Dims infer_output_dims(const Parameters& parameters, const std::vector<Dims>& inputs);

// Whether a tensor of dimensions `from` broadcasts to `to`: equal ranks, each extent equal or 1.
[[nodiscard]] bool broadcasts_to(const Dims& from, const Dims& to);

// Whether a primitive for the operation can run this kind of post-op: products take all kinds,
// arithmetic on integers takes no sums, and other operations that compute new elements take
// element-wise functions only.
[[nodiscard]] bool takes_post_op(const Op& op, PostOpKind kind);

// Throws InvalidRecipe unless rank and extents are within the bounds of recipe.h.
void check_dims(const Dims& dims);

// Throws InvalidRecipe unless every tensor is defined once and before its use, every dimension is
// what the shape rules say, every type what type_rules.h says, every operation takes its post-ops,
// and every port fits its tensor.
void check_recipe(const Recipe& recipe);

}  // namespace ephost_dnnl
