// row_products.h: recipes that compute each row of their input by itself: a chain of matrix
// products with constants as their second factors, and with post-ops that are the same for every
// row. A row is what the last dimension holds. Such a recipe holds for any number of rows, in
// whatever leading dimensions, so its own leading extents are mere examples.
#pragma once

#include <optional>
#include <vector>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// One product of the chain. The recipe's data that it reads are constants themselves, not views.
struct RowProduct {
  const Op* op = nullptr;      // of the recipe
  TensorId weights = 0;        // K x N elements of a constant, in row-major order unless transposed
  bool is_transposed = false;  // N x K elements in row-major order
  std::optional<TensorId> bias;    // N elements
  std::vector<TensorId> operands;  // one for each post-op; N elements or one, if it has any
  int64_t depth = 0, columns = 0;  // K and N
};

// The products of such a recipe in order. The recipe must have passed check_recipe. Throws
// InvalidRecipe if it is another one.
[[nodiscard]] std::vector<RowProduct> row_products(const Recipe& recipe);

}  // namespace ephost_dnnl
