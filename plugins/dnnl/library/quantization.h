// quantization.h: the passing of scales and zero points to primitives, which differs between
// versions 2 and 3 of oneDNN: version 2 takes the values as attributes; version 3 takes arrays as
// arguments of every run. Only quantization.cc knows which version it is compiled with.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace ephost_dnnl {

// Whether products of 8-bit integers are summed exactly. Instruction sets without such products sum
// pairs of them in 16 bits, which saturate.
[[nodiscard]] bool has_exact_integer_products();

// Whether a convolution or matrix product adds its bias to the scaled sum, else to the sum itself.
[[nodiscard]] bool bias_is_scaled();

// An array that a primitive reads when it runs.
struct ParameterArgument {
  int argument = 0;  // DNNL_ARG_ATTR_*
  dnnl::memory::desc layout;
  std::string bytes;
};

// Collects the scales and zero points of one primitive. A zero point of 0 and a scale of 1 need not
// be told and cost nothing.
class QuantizationAttributes {
 public:
  // Adds to attributes that must outlive it.
  explicit QuantizationAttributes(dnnl::primitive_attr& attributes) : attributes_(attributes) {}

  // The sum of a convolution or product is multiplied by these: one, or one for each channel, the
  // dimension `output_channel` of the output and `weights_mask` of the weights.
  void scale_sum(const std::vector<float>& scales, int output_channel, int weights_mask);
  // An operand of a binary primitive is multiplied by the scale.
  void scale_operand(int argument, float scale);
  // A reorder multiplies what it has read by the scale.
  void scale_reorder(float scale);
  // The elements of an argument stand for numbers that are smaller by the zero point.
  void set_zero_point(int argument, int64_t zero_point);

  [[nodiscard]] std::vector<ParameterArgument> take() { return std::move(arguments_); }

 private:
  dnnl::primitive_attr& attributes_;
  std::vector<ParameterArgument> arguments_;
};

}  // namespace ephost_dnnl
