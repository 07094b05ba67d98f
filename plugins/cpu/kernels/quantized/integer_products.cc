#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/onednn.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/quantized/bytes.h"
#include "plugins/cpu/kernels/quantized/exact_floats.h"
#include "plugins/cpu/kernels/quantized/integer_arithmetic.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {
namespace {

uint32_t wrapped(int64_t number) { return static_cast<uint32_t>(number); }

// The zero points once the numbers of the operand are of uint8 (A) or int8 (B).
int32_t zero_of_a(const QuantizedOperand& a, int64_t i) {
  return a.zero_point(i) + (a.is_signed() ? kSignOffset : 0);
}
int32_t zero_of_b(const QuantizedOperand& b, int64_t i) {
  return b.zero_point(i) - (b.is_signed() ? 0 : kSignOffset);
}

template <class ZeroOf>
bool has_zeros(const QuantizedOperand& operand, const ZeroOf& zero_of) {
  for (int64_t i = 0; i < operand.zero_point_count(); ++i) {
    if (zero_of(operand, i) != 0) return true;
  }
  return false;
}

CPU_SIMD void subtract_multiple(uint32_t factor, const uint32_t* from, int32_t* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t j = 0; j < count; ++j) {
    y[j] = static_cast<int32_t>(static_cast<uint32_t>(y[j]) - factor * from[j]);
  }
}

std::vector<uint8_t> transpose_matrix(const eph_value& matrix) {
  const int64_t rows = matrix.shape[0];
  const int64_t columns = matrix.shape[1];
  std::vector<uint8_t> to(static_cast<std::size_t>(checked_multiply(rows, columns)));
  transpose_bytes(data<const uint8_t>(matrix), columns, rows, columns, to.data(), rows);
  return to;
}

}  // namespace

Scales read_scales(eph::Run& run, uint32_t input, int64_t of_one, int64_t all) {
  const eph_value& value = *run.input(input);
  const Scales scales = {floats_of(run, value), element_count(eph::shape_of(value))};
  if (scales.count != 1 && scales.count != of_one && scales.count != all) {
    fail("scales of shape " + to_string(eph::shape_of(value)) + " do not match " +
         std::to_string(of_one) + " rows or columns");
  }
  return scales;
}

// The sum over k of (a - x)(b - z) is that of ab, less x times that of b, less z times that of
// (a - x).
void RawSums::correct(int64_t row) const {
  const int64_t product = row / m;
  const int64_t column = first_columns != nullptr ? first_columns[product] : product * n;
  const int64_t a_row = first_rows != nullptr ? first_rows[product] + row % m : row;
  int32_t* y = values + row * n;
  const int32_t a_zero = a_zeros == nullptr ? 0 : a_zeros[a_row % a_zero_count];
  if (a_zero != 0) subtract_multiple(wrapped(a_zero), b_sums + column, y, n);
  if (a != nullptr) {
    subtract_multiple(sum_bytes(a + a_row * k, k) - wrapped(k) * wrapped(a_zero), b_zeros + column,
                      y, n);
  }
}

struct IntegerProducts::Constant {
  int64_t k = 0, n = 0;

  std::unique_ptr<Products> bytes;  // null if they are not multiplied exactly
  std::vector<uint32_t> sums;       // of columns
  std::vector<uint32_t> zeros;      // of columns; empty if all are zero

  // In float, cut into chunks.
  int64_t terms = 0;  // rows in a chunk
  std::vector<std::vector<float>> chunks;
  std::vector<std::unique_ptr<Products>> products;

  void pack_bytes(const NodeContext& context, const QuantizedOperand& b, bool transposes_b);
  void pack_floats(const NodeContext& context, QuantizedOperand b, bool transposes_b);
};

struct IntegerProducts::States : eph::State {
  std::unique_ptr<eph::State> usual;
  std::vector<std::unique_ptr<eph::State>> of_constant;
};

// oneDNN packs the constant as it is in the file, now: for one row if their number is not known, as
// that has no influence on the layout.
void IntegerProducts::Constant::pack_bytes(const NodeContext& context, const QuantizedOperand& b,
                                           bool transposes_b) {
  const bool flips = !b.is_signed();
  bytes = std::make_unique<Products>(context.settings().onednn, b.value->data, flips);
  const auto* numbers = data<const int8_t>(*b.value);
  sums.assign(static_cast<std::size_t>(n), 0);
  if (transposes_b) {
    for (int64_t j = 0; j < n; ++j) {
      const uint8_t* column = data<const uint8_t>(*b.value) + j * k;
      sums[static_cast<std::size_t>(j)] =
          flips ? sum_bytes(column, k) - wrapped(k) * kSignOffset : sum_bytes(numbers + j * k, k);
    }
  } else {
    add_column_sums(numbers, k, n, flips, sums.data());
  }
  if (has_zeros(b, zero_of_b)) {
    for (int64_t j = 0; j < n; ++j) zeros.push_back(wrapped(zero_of_b(b, j)));
  }
  const std::optional<Dims> a = context.input_shape(0);
  const int64_t rows = a ? element_count(*a) / k : 1;
  if (rows == 0) return;
  (void)bytes->prepare({.m = rows, .k = k, .n = n, .transpose_b = transposes_b, .of_bytes = true});
}

void IntegerProducts::Constant::pack_floats(const NodeContext& context, QuantizedOperand b,
                                            bool transposes_b) {
  std::vector<uint8_t> moved;
  eph_value transposed = *b.value;
  if (transposes_b) {
    moved = transpose_matrix(*b.value);
    transposed.data = moved.data();
    b.value = &transposed;
  }
  terms = exact_terms(kMaxReach, b.reach());
  for (int64_t row = 0; row < k; row += terms) {
    const int64_t rows = std::min(terms, k - row);
    auto& chunk = chunks.emplace_back(static_cast<std::size_t>(rows * n));
    pack_columns(b, {row * n, rows, n, n}, 0, chunk.data());
    products.push_back(std::make_unique<Products>(context.settings().onednn, chunk.data()));
  }
}

// Only for a single matrix, which all products share, with zero points that are constant too.
std::unique_ptr<IntegerProducts::Constant> IntegerProducts::make_constant(
    const NodeContext& context, std::size_t b, std::size_t b_zero_points, bool transposes_b) {
  const std::optional<QuantizedOperand> operand = constant_operand(context, b, b_zero_points);
  if (!operand || operand->value->rank != 2) return nullptr;
  Dims shape = dims_of(*operand->value);
  if (transposes_b) std::swap(shape[0], shape[1]);
  const int64_t zeros = operand->zero_point_count();
  if (zeros != 1 && zeros != shape[1]) return nullptr;  // `run` refuses it
  auto made = std::make_unique<Constant>();
  made->k = shape[0];
  made->n = shape[1];
  if (multiplies_bytes_exactly()) {
    made->pack_bytes(context, *operand, transposes_b);
  } else {
    made->pack_floats(context, *operand, transposes_b);
  }
  return made;
}

IntegerProducts::IntegerProducts(const NodeContext& context, std::size_t b,
                                 std::size_t b_zero_points, bool transposes_b)
    : products_(std::make_unique<Products>(context.settings().onednn, nullptr)),
      constant_(make_constant(context, b, b_zero_points, transposes_b)),
      transposes_b_(transposes_b) {}
IntegerProducts::~IntegerProducts() = default;

bool IntegerProducts::has_constant(const ProductShape& shape) const {
  return constant_ != nullptr && constant_->k == shape.k && constant_->n == shape.n;
}

std::unique_ptr<eph::State> IntegerProducts::create_state() const {
  auto states = std::make_unique<States>();
  states->usual = products_->create_state();
  if (constant_ == nullptr) return states;
  if (constant_->bytes != nullptr) states->of_constant.push_back(constant_->bytes->create_state());
  for (const auto& products : constant_->products) {
    states->of_constant.push_back(products->create_state());
  }
  return states;
}

RawSums IntegerProducts::add_up(eph::Run& run, eph::State* state, const MatMulLayout& layout,
                                const QuantizedOperand& a, const QuantizedOperand& b, int32_t* y) {
  auto& states = *static_cast<States*>(state);
  const int64_t m = layout.shape.m;
  const int64_t k = layout.shape.k;
  const int64_t n = layout.shape.n;
  const int64_t a_rows = k == 0 ? m : element_count(eph::shape_of(*a.value)) / k;
  const int64_t b_columns = k == 0 ? n : element_count(eph::shape_of(*b.value)) / k;
  check_zero_points(a, dims_of(*a.value).size() < 2 ? 1 : *(a.value->shape + a.value->rank - 2),
                    a_rows);
  check_zero_points(b, n, b_columns);
  const int64_t count = checked_multiply(layout.shape.batch, element_count(layout.loop));
  RawSums sums = {.values = y, .m = m, .n = n, .k = k, .rows = count * m};
  if (k == 0) {
    std::fill_n(y, count * m * n, 0);
  } else if (multiplies_bytes_exactly()) {
    multiply_bytes(run, states, layout, a, b, sums);
  } else {
    multiply_floats(run, states, layout, a, b, y);
  }
  return sums;
}

void IntegerProducts::multiply_bytes(eph::Run& run, States& states, const MatMulLayout& layout,
                                     const QuantizedOperand& a, const QuantizedOperand& b,
                                     RawSums& sums) {
  const ProductShape& shape = layout.shape;
  const bool is_constant = has_constant(shape);
  const auto* left = data<const uint8_t>(*a.value);
  if (a.is_signed()) {
    const int64_t count = element_count(eph::shape_of(*a.value));
    auto* flipped = take_scratch<uint8_t>(run, count);
    flip_signs(left, flipped, count);
    left = flipped;
  }
  if (has_zeros(a, zero_of_a)) {
    auto* zeros = take_scratch<int32_t>(run, a.zero_point_count());
    for (int64_t i = 0; i < a.zero_point_count(); ++i) zeros[i] = zero_of_a(a, i);
    sums.a_zeros = zeros;
    sums.a_zero_count = a.zero_point_count();
  }
  const int8_t* right = nullptr;
  if (is_constant) {
    sums.b_sums = constant_->sums.data();
    sums.b_zeros = constant_->zeros.data();
    if (!constant_->zeros.empty()) sums.a = left;
  } else {
    right = describe_columns(run, shape, b, sums);
    if (sums.b_zeros != nullptr) sums.a = left;
  }
  ProductShape of_bytes = shape;
  of_bytes.transpose_b = is_constant && transposes_b_;
  Products& products = is_constant ? *constant_->bytes : *products_;
  eph::State* state = is_constant ? states.of_constant[0].get() : states.usual.get();
  if (layout.loop.empty()) {
    return products.multiply_bytes(run, state, of_bytes, left, right, sums.values);
  }
  const int64_t count = element_count(layout.loop);
  auto* first_rows = take_scratch<int64_t>(run, count);
  auto* first_columns = take_scratch<int64_t>(run, count);
  Odometer<2> at(layout.loop, layout.strides);
  for (int64_t p = 0; p < count; ++p, at.next()) {
    first_rows[p] = at.offset(0) / shape.k;
    first_columns[p] = at.offset(1) / shape.k;
    products.multiply_bytes(run, state, of_bytes, left + at.offset(0),
                            is_constant ? nullptr : right + at.offset(1),
                            sums.values + p * shape.m * shape.n);
  }
  sums.first_rows = first_rows;
  sums.first_columns = first_columns;
}

// Columns are those of all matrices, one after the other.
const int8_t* IntegerProducts::describe_columns(eph::Run& run, const ProductShape& shape,
                                                const QuantizedOperand& b, RawSums& sums) {
  const int64_t count = element_count(eph::shape_of(*b.value));
  const int64_t columns = count / shape.k;
  const auto* numbers = data<const int8_t>(*b.value);
  if (!b.is_signed()) {
    auto* flipped = take_scratch<int8_t>(run, count);
    flip_signs(numbers, flipped, count);
    numbers = flipped;
  }
  if (sums.a_zeros != nullptr) {
    auto* of_columns = take_scratch<uint32_t>(run, columns);
    std::fill_n(of_columns, columns, 0);
    parallel_for(columns / shape.n, 0.05 * static_cast<double>(shape.k * shape.n),
                 [=, &shape](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     add_column_sums(numbers + i * shape.k * shape.n, shape.k, shape.n, false,
                                     of_columns + i * shape.n);
                   }
                 });
    sums.b_sums = of_columns;
  }
  if (has_zeros(b, zero_of_b)) {
    auto* zeros = take_scratch<uint32_t>(run, columns);
    for (int64_t j = 0; j < columns; ++j) zeros[j] = wrapped(zero_of_b(b, j));
    sums.b_zeros = zeros;
  }
  return numbers;
}

void IntegerProducts::multiply_floats(eph::Run& run, States& states, const MatMulLayout& layout,
                                      const QuantizedOperand& a, const QuantizedOperand& b,
                                      int32_t* y) {
  const ProductShape& shape = layout.shape;
  const int64_t m = shape.m;
  const int64_t k = shape.k;
  const int64_t n = shape.n;
  const int64_t count = checked_multiply(shape.batch, element_count(layout.loop));
  const bool is_constant = has_constant(shape);
  const int64_t terms =
      std::min(k, is_constant ? constant_->terms : exact_terms(a.reach(), b.reach()));
  float* left = take_scratch<float>(run, checked_multiply(m, terms));
  float* right = is_constant ? nullptr : take_scratch<float>(run, checked_multiply(terms, n));
  float* sums = take_scratch<float>(run, checked_multiply(m, n));
  Odometer<2> at(layout.loop, layout.strides);
  for (int64_t p = 0; p < count; ++p) {
    const int64_t a_at = layout.loop.empty() ? p * m * k : at.offset(0);
    const int64_t b_at = layout.loop.empty() ? p * k * n : at.offset(1);
    for (int64_t row = 0; row < k; row += terms) {
      const int64_t length = std::min(terms, k - row);
      const ProductShape part = {.m = m, .k = length, .n = n, .is_exact = true};
      pack_rows(a, {a_at + row, m, length, k}, a_at / k, left);
      if (is_constant) {
        const auto chunk = static_cast<std::size_t>(row / terms);
        constant_->products[chunk]->multiply(run, states.of_constant[chunk].get(), part, left,
                                             nullptr, nullptr, sums);
      } else {
        pack_columns(b, {b_at + row * n, length, n, n}, b_at / k, right);
        products_->multiply(run, states.usual.get(), part, left, right, nullptr, sums);
      }
      add_chunk(sums, row == 0, y + p * m * n, m * n);
    }
    if (!layout.loop.empty()) at.next();
  }
}

}  // namespace ephost_cpu
