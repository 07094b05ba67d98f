#include "plugins/dnnl/lowering/recipe_builder.h"

#include <algorithm>
#include <utility>

#include "plugins/dnnl/recipe/shape_rules.h"
#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {

TensorId RecipeBuilder::add_tensor(const Dims& dims, ElementType type) {
  try {
    check_dims(dims);
  } catch (const InvalidRecipe& error) {
    throw Unsupported(error.what());
  }
  lowered_.recipe.tensors.push_back({dims, type});
  return static_cast<TensorId>(lowered_.recipe.tensors.size() - 1);
}

TensorId RecipeBuilder::add_input(const Dims& shape, ElementType type) {
  const TensorId tensor = add_tensor(dims_of_shape(shape), type);
  lowered_.recipe.inputs.push_back({tensor, shape});
  return tensor;
}

TensorId RecipeBuilder::add_constant(const Dims& shape, const void* data, ElementType type) {
  const TensorId tensor = add_tensor(dims_of_shape(shape), type);
  lowered_.recipe.constants.push_back(tensor);
  lowered_.constants.borrow(tensor, data);
  return tensor;
}

TensorId RecipeBuilder::add_constant(const Dims& shape, QuantizedConstant data) {
  const TensorId tensor = add_tensor(dims_of_shape(shape), ElementType::kF32);
  lowered_.recipe.constants.push_back(tensor);
  lowered_.constants.add(tensor, std::move(data));
  return tensor;
}

void RecipeBuilder::add_output(TensorId tensor, const Dims& shape) {
  lowered_.recipe.outputs.push_back({tensor, shape});
}

TensorId RecipeBuilder::add(Parameters parameters, std::vector<TensorId> inputs) {
  std::vector<Dims> input_dims;
  std::vector<ElementType> input_types;
  for (const TensorId input : inputs) {
    input_dims.push_back(dims(input));
    input_types.push_back(type(input));
  }
  Op op;
  op.parameters = std::move(parameters);
  op.inputs = std::move(inputs);
  op.name = name_;
  try {
    const Dims output_dims = infer_output_dims(op.parameters, input_dims);
    op.output = add_tensor(output_dims, infer_output_type(op.parameters, input_types));
  } catch (const InvalidRecipe& error) {
    throw Unsupported(error.what());
  }
  lowered_.recipe.ops.push_back(std::move(op));
  return lowered_.recipe.ops.back().output;
}

TensorId RecipeBuilder::reshape(TensorId tensor, const Dims& new_dims) {
  if (dims(tensor) == new_dims) return tensor;
  return add(Reshape{new_dims}, {tensor});
}

TensorId RecipeBuilder::with_rank(TensorId tensor, std::size_t rank) {
  Dims extended = dims(tensor);
  if (extended.size() < rank) extended.insert(extended.begin(), rank - extended.size(), 1);
  return reshape(tensor, extended);
}

std::optional<float> RecipeBuilder::scalar(TensorId tensor) const {
  const std::vector<TensorId>& constants = lowered_.recipe.constants;
  if (element_count(dims(tensor)) != 1 || is_integer(type(tensor)) ||
      !std::binary_search(constants.begin(), constants.end(), tensor)) {
    return std::nullopt;
  }
  return lowered_.constants.data(tensor)[0];
}

}  // namespace ephost_dnnl
