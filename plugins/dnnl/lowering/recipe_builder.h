// recipe_builder.h: a builder of a recipe, one tensor and one operation at a time, with the
// constants' elements beside it. Used by lowering; knows nothing of graphs.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/constants.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Tells the user why the provider does not take a node.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct LoweredPartition {
  Recipe recipe;
  ConstantPool constants;
};

class RecipeBuilder {
 public:
  // A shape of rank 0 becomes the dimensions [1].
  TensorId add_input(const Dims& shape, ElementType type = ElementType::kF32);
  // The data is borrowed, or taken over.
  TensorId add_constant(const Dims& shape, const void* data, ElementType type = ElementType::kF32);
  TensorId add_constant(const Dims& shape, QuantizedConstant data);
  void add_output(TensorId tensor, const Dims& shape);

  // Adds an operation and its output. Throws Unsupported if the shape rules refuse it.
  TensorId add(Parameters parameters, std::vector<TensorId> inputs);

  // The tensor with these dimensions; itself if it has them already.
  TensorId reshape(TensorId tensor, const Dims& dims);
  // The tensor with extents of 1 added in front up to the rank.
  TensorId with_rank(TensorId tensor, std::size_t rank);

  // Sets the name of the operations added from now on.
  void set_name(std::string_view name) { name_ = name; }

  [[nodiscard]] const Dims& dims(TensorId tensor) const { return lowered_.recipe.dims(tensor); }
  [[nodiscard]] ElementType type(TensorId tensor) const { return lowered_.recipe.type(tensor); }
  // The value of a constant with one element.
  [[nodiscard]] std::optional<float> scalar(TensorId tensor) const;

  [[nodiscard]] const Recipe& recipe() const { return lowered_.recipe; }
  [[nodiscard]] LoweredPartition finish() && { return std::move(lowered_); }

 private:
  TensorId add_tensor(const Dims& dims, ElementType type);

  LoweredPartition lowered_;
  std::string name_;
};

// The dimensions of a tensor with that ONNX shape: [1] for rank 0.
[[nodiscard]] inline Dims dims_of_shape(const Dims& shape) {
  return shape.empty() ? Dims{1} : shape;
}

}  // namespace ephost_dnnl
