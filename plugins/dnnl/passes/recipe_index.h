// recipe_index.h: the producer and the readers of each tensor of a recipe, at the time the index
// was made.
#pragma once

#include <optional>
#include <vector>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

class RecipeIndex {
 public:
  explicit RecipeIndex(const Recipe& recipe);

  [[nodiscard]] bool is_constant(TensorId tensor) const { return is_constant_[tensor]; }
  [[nodiscard]] const std::vector<bool>& constants() const { return is_constant_; }
  // Position of the operation that produces a tensor; nothing for inputs and constants.
  [[nodiscard]] std::optional<std::size_t> producer(TensorId tensor) const {
    return producers_[tensor];
  }
  // Positions of the operations that read a tensor, ascending, one entry for each time.
  [[nodiscard]] const std::vector<std::size_t>& readers(TensorId tensor) const {
    return readers_[tensor];
  }
  [[nodiscard]] bool is_output(TensorId tensor) const { return is_output_[tensor]; }
  // Whether a single operation reads the tensor, once, and the tensor is not an output of the
  // partition.
  [[nodiscard]] bool has_single_use(TensorId tensor) const {
    return readers_[tensor].size() == 1 && !is_output_[tensor];
  }

 private:
  std::vector<bool> is_constant_;
  std::vector<bool> is_output_;
  std::vector<std::optional<std::size_t>> producers_;
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace ephost_dnnl
