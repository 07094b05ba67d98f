// Matrix products and convolutions of 8-bit integers with sums of 32 bits.
//
// They are computed in float, where products of such numbers and sums of a few hundred of them are
// exact: the terms are cut into chunks of that length, whose sums are added as integers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/kernels/matrix/matmul_layout.h"
#include "plugins/cpu/kernels/windows/convolution.h"

namespace ephost_cpu {

// An operand of int8 or uint8 with one zero point, several, or none.
struct QuantizedOperand {
  const eph_value* value;
  const eph_value* zero_points;  // may be null

  // Zero point `i`, modulo the number of zero points.
  [[nodiscard]] int32_t zero_point(int64_t i) const;
  [[nodiscard]] int64_t zero_point_count() const;
  // The largest distance of a number from its zero point.
  [[nodiscard]] int64_t reach() const;
};

// Scale `i`, modulo the number of scales.
struct Scales {
  const float* values;
  int64_t count;
  float operator()(int64_t i) const { return values[i % count]; }
};

// An input with one scale, one for each row or column of one matrix, or of all matrices. Throws for
// another number.
[[nodiscard]] Scales read_scales(eph::Run& run, uint32_t input, int64_t of_one, int64_t all);

// The products of one kernel.
class IntegerProducts {
 public:
  // `b` and `b_zero_points` are the node's input indices of B and its zero points. With
  // `transposes_b`, the input is a matrix with the rows of B as columns.
  IntegerProducts(const NodeContext& context, std::size_t b, std::size_t b_zero_points,
                  bool transposes_b = false);

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // `state` comes from create_state. A has one zero point, one for each row, or one for each row of
  // each matrix; B likewise for columns. Throws for another number. `y` is dense. `b` is B itself,
  // even if the input is transposed; of its elements, none is read where `has_constant`.
  void multiply(eph::Run& run, eph::State* state, const MatMulLayout& layout,
                const QuantizedOperand& a, const QuantizedOperand& b, int32_t* y);

  // Whether B is a constant matrix of that shape, which was packed when the kernel was made.
  [[nodiscard]] bool has_constant(const ProductShape& shape) const;

 private:
  struct Constant;  // B in float, cut into chunks
  static std::unique_ptr<Constant> make_constant(const NodeContext& context, std::size_t b,
                                                 std::size_t b_zero_points, bool transposes_b);

  std::unique_ptr<Products> products_;  // if B is not constant
  std::shared_ptr<Constant> constant_;  // null if B is not constant
};

// The convolutions of one kernel.
class IntegerConvolutions {
 public:
  // `weights` and `zero_points` are the node's input indices of the weights and their zero points.
  IntegerConvolutions(const NodeContext& context, std::size_t weights,
                      std::size_t weights_zero_points);

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // `state` comes from create_state. The weights have one zero point, or one for each output
  // channel. Throws for another number. `y` is dense and not empty.
  void convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                const QuantizedOperand& x, const QuantizedOperand& weights, int32_t* y);

 private:
  struct Constant;  // weights in float, cut into chunks of channels
  static std::unique_ptr<Constant> make_constant(const NodeContext& context, std::size_t weights,
                                                 std::size_t weights_zero_points);

  Convolutions convolutions_;  // if the weights are not constant
  std::shared_ptr<Constant> constant_;
};

}  // namespace ephost_cpu
