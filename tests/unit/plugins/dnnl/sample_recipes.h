// sample_recipes.h: small recipes that several tests use.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/lowering/recipe_builder.h"

namespace ephost_dnnl::test {

inline Convolution convolution_3x3() { return Convolution{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1}; }

// Builds partitions with constants whose elements count upwards.
class SampleBuilder {
 public:
  TensorId input(const Dims& dims) { return builder_.add_input(dims); }
  TensorId constant(const Dims& dims, float first = 0.5F, float step = 0.25F) {
    const auto count = static_cast<std::size_t>(element_count(dims));
    std::vector<float>& data = *data_.emplace_back(std::make_unique<std::vector<float>>(count));
    for (std::size_t i = 0; i < count; ++i) data[i] = first + step * static_cast<float>(i % 7);
    return builder_.add_constant(dims, data.data());
  }
  TensorId add(Parameters parameters, std::vector<TensorId> inputs) {
    builder_.set_name("op" + std::to_string(builder_.recipe().ops.size()));
    return builder_.add(std::move(parameters), std::move(inputs));
  }
  void output(TensorId tensor) { builder_.add_output(tensor, builder_.dims(tensor)); }
  [[nodiscard]] LoweredPartition finish() { return std::move(builder_).finish(); }

 private:
  RecipeBuilder builder_;
  std::vector<std::unique_ptr<std::vector<float>>> data_;  // must outlive the partition
};

// conv -> batch normalisation -> relu, with a shortcut added before the relu.
inline LoweredPartition residual_block(SampleBuilder& builder) {
  const TensorId x = builder.input({1, 4, 6, 6});
  const TensorId first = builder.add(convolution_3x3(), {x, builder.constant({4, 4, 3, 3})});
  const TensorId conv = builder.add(convolution_3x3(), {first, builder.constant({4, 4, 3, 3})});
  const TensorId normal =
      builder.add(BatchNormalization{}, {conv, builder.constant({4}), builder.constant({4}),
                                         builder.constant({4}), builder.constant({4})});
  const TensorId sum = builder.add(Binary{BinaryFunction::kAdd}, {normal, first});
  builder.output(builder.add(Eltwise{EltwiseFunction::kRelu, 0, 0}, {sum}));
  return builder.finish();
}

}  // namespace ephost_dnnl::test
