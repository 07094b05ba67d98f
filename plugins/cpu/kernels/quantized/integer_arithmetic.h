// Matrix products and convolutions of 8-bit integers with sums of 32 bits, which wrap around.
//
// Where the processor multiplies bytes exactly, oneDNN multiplies them as they are, and sums of
// rows and columns account for the zero points. Elsewhere they are computed in float
// (exact_floats.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/matrix/matmul_layout.h"
#include "plugins/cpu/kernels/quantized/byte_convolution.h"
#include "plugins/cpu/kernels/quantized/quantized_operand.h"
#include "plugins/cpu/kernels/windows/convolution.h"

namespace ephost_cpu {

// Scale `i`, modulo the number of scales.
struct Scales {
  const float* values;
  int64_t count;
  float operator()(int64_t i) const { return values[i % count]; }
};

// An input with one scale, one for each row or column of one matrix, or of all matrices. Throws for
// another number.
[[nodiscard]] Scales read_scales(eph::Run& run, uint32_t input, int64_t of_one, int64_t all);

// Sums of the products of bytes, row by row, and what turns them into those of the distances from
// the zero points.
struct RawSums {
  int32_t* values = nullptr;
  int64_t m = 0, n = 0, k = 0;  // of one matrix product
  int64_t rows = 0;             // of all

  // The first row of A and the first column of B of each product; null if they follow each other.
  const int64_t* first_rows = nullptr;
  const int64_t* first_columns = nullptr;

  const uint8_t* a = nullptr;         // rows of k bytes; null if the zero points of B are zero
  const int32_t* a_zeros = nullptr;   // null if all are zero
  int64_t a_zero_count = 0;           // row r has number r % a_zero_count
  const uint32_t* b_sums = nullptr;   // of each column
  const uint32_t* b_zeros = nullptr;  // of each column; unused if `a` is null

  // Turns the values of a row into the result.
  void correct(int64_t row) const;
};

// The products of one kernel, whose input 0 is A.
class IntegerProducts {
 public:
  // `b` and `b_zero_points` are the node's input indices of B and its zero points. With
  // `transposes_b`, the input is a matrix with the rows of B as columns.
  IntegerProducts(const NodeContext& context, std::size_t b, std::size_t b_zero_points,
                  bool transposes_b = false);
  ~IntegerProducts();

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // `state` comes from create_state. A has one zero point, one for each row, or one for each row of
  // each matrix; B likewise for columns. Throws for another number. `y` is dense. `b` is B itself,
  // even if the input is transposed; of its elements, none is read where `has_constant`. No extent
  // of the result may be 0.
  //
  // Calls finish(r, sums) for row r of the result, in parallel; `sums` are its elements in `y`,
  // which may change. It must not throw.
  template <class Finish>
  void multiply(eph::Run& run, eph::State* state, const MatMulLayout& layout,
                const QuantizedOperand& a, const QuantizedOperand& b, int32_t* y,
                const Finish& finish) {
    const RawSums sums = add_up(run, state, layout, a, b, y);
    parallel_for(sums.rows, static_cast<double>(sums.n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        sums.correct(r);
        finish(r, sums.values + r * sums.n);
      }
    });
  }

  // Whether B is a constant matrix of that shape, which was packed when the kernel was made.
  [[nodiscard]] bool has_constant(const ProductShape& shape) const;

 private:
  struct Constant;  // B as it is multiplied
  struct States;
  static std::unique_ptr<Constant> make_constant(const NodeContext& context, std::size_t b,
                                                 std::size_t b_zero_points, bool transposes_b);

  RawSums add_up(eph::Run& run, eph::State* state, const MatMulLayout& layout,
                 const QuantizedOperand& a, const QuantizedOperand& b, int32_t* y);
  void multiply_bytes(eph::Run& run, States& states, const MatMulLayout& layout,
                      const QuantizedOperand& a, const QuantizedOperand& b, RawSums& sums);
  // B as int8, with sums and zero points of its columns.
  static const int8_t* describe_columns(eph::Run& run, const ProductShape& shape,
                                        const QuantizedOperand& b, RawSums& sums);
  void multiply_floats(eph::Run& run, States& states, const MatMulLayout& layout,
                       const QuantizedOperand& a, const QuantizedOperand& b, int32_t* y);

  std::unique_ptr<Products> products_;  // if B is not constant
  std::unique_ptr<Constant> constant_;  // null if B is not constant
  bool transposes_b_;
};

// The convolutions of one kernel.
class IntegerConvolutions {
 public:
  // `weights` and `zero_points` are the node's input indices of the weights and their zero points.
  IntegerConvolutions(const NodeContext& context, std::size_t weights,
                      std::size_t weights_zero_points);
  ~IntegerConvolutions();

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // Makes the plan and packs constant weights now. No extent may be 0.
  void prepare(const ConvolutionShape& shape);

  // `state` comes from create_state. The weights have one zero point, or one for each output
  // channel. Throws for another number. No extent is 0. `y` has the layout [N, M, ...].
  void convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                const QuantizedOperand& x, const QuantizedOperand& weights, int32_t* y);

  // The same, then adds the bias, if there is one, multiplies by the factor of the channel, and
  // quantises to `y`, of `element_type`.
  void convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                const QuantizedOperand& x, const QuantizedOperand& weights,
                const Requantization& requantization, int32_t element_type, void* y);

 private:
  struct Constant;  // weights in float, cut into chunks of channels
  struct States;
  static std::unique_ptr<Constant> make_constant(const NodeContext& context,
                                                 const QuantizedOperand& operand);
  void convolve_floats(eph::Run& run, States& states, const ConvolutionShape& shape,
                       const QuantizedOperand& x, const QuantizedOperand& weights, int32_t* y);

  std::unique_ptr<ByteConvolutions> bytes_;  // null if bytes are not multiplied exactly
  Convolutions convolutions_;                // if the weights are not constant
  std::unique_ptr<Constant> constant_;
};

}  // namespace ephost_cpu
