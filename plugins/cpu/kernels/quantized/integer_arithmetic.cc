#include "plugins/cpu/kernels/quantized/integer_arithmetic.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/onednn.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kExact = int64_t{1} << 24;  // up to here, float represents every integer
constexpr int64_t kMaxReach = 255;

// The number of terms whose sum stays exact.
int64_t exact_terms(int64_t reach_a, int64_t reach_b) {
  return std::max<int64_t>(1, kExact / std::max<int64_t>(1, reach_a * reach_b));
}

template <class F>
void dispatch_bytes(const eph_value& value, F&& f) {
  dispatch<int8_t, uint8_t>(value.element_type, f);
}

// Wraps around, as unsigned integers do.
int32_t add(int32_t sum, float term) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum) +
                              static_cast<uint32_t>(static_cast<int32_t>(term)));
}

void add_up(const float* terms, bool is_first, int32_t* y, int64_t count) {
  parallel_for(count, 0.5, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = add(is_first ? 0 : y[i], terms[i]);
  });
}

float* floats(eph::Run& run, int64_t count) {
  return static_cast<float*>(
      run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(float)))));
}

// A block of a matrix with rows of `stride` elements: `columns` from `first` on, without zero
// points.
struct Block {
  int64_t first, rows, columns, stride;
};

// The zero point of row r is number `zero + r`.
void pack_rows(const QuantizedOperand& from, const Block& block, int64_t zero, float* to) {
  dispatch_bytes(*from.value, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(block.rows, static_cast<double>(block.columns), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = data<const T>(*from.value) + block.first + r * block.stride;
        const auto zero_point = static_cast<float>(from.zero_point(zero + r));
        float* out = to + r * block.columns;
        for (int64_t i = 0; i < block.columns; ++i)
          out[i] = static_cast<float>(row[i]) - zero_point;
      }
    });
  });
}

// The zero point of column j is number `zero + j`.
void pack_columns(const QuantizedOperand& from, const Block& block, int64_t zero, float* to) {
  if (from.zero_point_count() == 1) return pack_rows(from, block, 0, to);
  dispatch_bytes(*from.value, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t r = 0; r < block.rows; ++r) {
      const T* row = data<const T>(*from.value) + block.first + r * block.stride;
      for (int64_t j = 0; j < block.columns; ++j) {
        to[r * block.columns + j] = static_cast<float>(row[j] - from.zero_point(zero + j));
      }
    }
  });
}

// `of_one` are the rows or columns of one matrix, `all` those of all matrices of the operand.
void check_zero_points(const QuantizedOperand& operand, int64_t of_one, int64_t all) {
  const int64_t count = operand.zero_point_count();
  if (count == 1 || count == of_one || count == all) return;
  fail("zero points of shape " + to_string(eph::shape_of(*operand.zero_points)) +
       " do not match an operand of shape " + to_string(eph::shape_of(*operand.value)));
}

}  // namespace

int64_t QuantizedOperand::zero_point_count() const {
  return zero_points == nullptr ? 1 : element_count(eph::shape_of(*zero_points));
}

int32_t QuantizedOperand::zero_point(int64_t i) const {
  if (zero_points == nullptr) return 0;
  const int64_t at = i % zero_point_count();
  return zero_points->element_type == EPH_ELEMENT_INT8
             ? int32_t{data<const int8_t>(*zero_points)[at]}
             : int32_t{data<const uint8_t>(*zero_points)[at]};
}

int64_t QuantizedOperand::reach() const {
  const bool is_signed = value->element_type == EPH_ELEMENT_INT8;
  int64_t reach = 0;
  for (int64_t i = 0; i < zero_point_count(); ++i) {
    const int64_t zero = zero_point(i);
    reach = std::max({reach, (is_signed ? 127 : 255) - zero, zero - (is_signed ? -128 : 0)});
  }
  return reach;
}

Scales read_scales(eph::Run& run, uint32_t input, int64_t of_one, int64_t all) {
  const eph_value& value = *run.input(input);
  const Scales scales = {floats_of(run, value), element_count(eph::shape_of(value))};
  if (scales.count != 1 && scales.count != of_one && scales.count != all) {
    fail("scales of shape " + to_string(eph::shape_of(value)) + " do not match " +
         std::to_string(of_one) + " rows or columns");
  }
  return scales;
}

struct IntegerProducts::Constant {
  int64_t k = 0, n = 0;
  int64_t terms = 0;  // rows in a chunk
  std::vector<std::vector<float>> chunks;
  std::vector<std::unique_ptr<Products>> products;
};

namespace {

// Nothing if one of them is not constant, or there are no elements.
std::optional<QuantizedOperand> constant_operand(const NodeContext& context, std::size_t input,
                                                 std::size_t zero_points) {
  const QuantizedOperand operand = {context.constant(input), context.constant(zero_points)};
  if (operand.value == nullptr || element_count(dims_of(*operand.value)) == 0) return std::nullopt;
  if (operand.zero_points == nullptr) {
    if (context.has_input(zero_points)) return std::nullopt;
  } else if (operand.zero_points->element_type != operand.value->element_type ||
             operand.zero_point_count() == 0) {
    return std::nullopt;  // `run` refuses it
  }
  return operand;
}

std::vector<uint8_t> transpose_bytes(const eph_value& matrix) {
  const int64_t rows = matrix.shape[0];
  const int64_t columns = matrix.shape[1];
  const auto* from = data<const uint8_t>(matrix);
  std::vector<uint8_t> to(static_cast<std::size_t>(checked_multiply(rows, columns)));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[static_cast<std::size_t>(c * rows + r)] = from[r * columns + c];
    }
  }
  return to;
}

struct States : eph::State {
  std::unique_ptr<eph::State> usual;
  std::vector<std::unique_ptr<eph::State>> of_chunks;
};

}  // namespace

// Only for a single matrix, which all products share, with zero points that are constant too.
std::unique_ptr<IntegerProducts::Constant> IntegerProducts::make_constant(
    const NodeContext& context, std::size_t b, std::size_t b_zero_points, bool transposes_b) {
  std::optional<QuantizedOperand> operand = constant_operand(context, b, b_zero_points);
  if (!operand || operand->value->rank != 2) return nullptr;
  Dims shape = dims_of(*operand->value);
  std::vector<uint8_t> bytes;
  eph_value transposed = *operand->value;
  if (transposes_b) {
    bytes = transpose_bytes(*operand->value);
    transposed.data = bytes.data();
    operand->value = &transposed;
    std::swap(shape[0], shape[1]);
  }
  const int64_t zeros = operand->zero_point_count();
  if (zeros != 1 && zeros != shape[1]) return nullptr;  // `run` refuses it
  auto made = std::make_unique<Constant>();
  made->k = shape[0];
  made->n = shape[1];
  made->terms = exact_terms(kMaxReach, operand->reach());
  for (int64_t row = 0; row < made->k; row += made->terms) {
    const int64_t rows = std::min(made->terms, made->k - row);
    auto& chunk = made->chunks.emplace_back(static_cast<std::size_t>(rows * made->n));
    pack_columns(*operand, {row * made->n, rows, made->n, made->n}, 0, chunk.data());
    made->products.push_back(std::make_unique<Products>(context.settings().onednn, chunk.data()));
  }
  return made;
}

IntegerProducts::IntegerProducts(const NodeContext& context, std::size_t b,
                                 std::size_t b_zero_points, bool transposes_b)
    : products_(std::make_unique<Products>(context.settings().onednn, nullptr)),
      constant_(make_constant(context, b, b_zero_points, transposes_b)) {}

bool IntegerProducts::has_constant(const ProductShape& shape) const {
  return constant_ != nullptr && constant_->k == shape.k && constant_->n == shape.n;
}

std::unique_ptr<eph::State> IntegerProducts::create_state() const {
  auto states = std::make_unique<States>();
  states->usual = products_->create_state();
  if (constant_ != nullptr) {
    for (const auto& products : constant_->products) {
      states->of_chunks.push_back(products->create_state());
    }
  }
  return states;
}

void IntegerProducts::multiply(eph::Run& run, eph::State* state, const MatMulLayout& layout,
                               const QuantizedOperand& a, const QuantizedOperand& b, int32_t* y) {
  auto& states = *static_cast<States*>(state);
  const ProductShape& shape = layout.shape;
  const int64_t m = shape.m;
  const int64_t k = shape.k;
  const int64_t n = shape.n;
  const int64_t a_rows = k == 0 ? m : element_count(eph::shape_of(*a.value)) / k;
  const int64_t b_columns = k == 0 ? n : element_count(eph::shape_of(*b.value)) / k;
  check_zero_points(a, dims_of(*a.value).size() < 2 ? 1 : *(a.value->shape + a.value->rank - 2),
                    a_rows);
  check_zero_points(b, n, b_columns);
  const int64_t count = checked_multiply(shape.batch, element_count(layout.loop));
  if (k == 0) {
    std::fill_n(y, count * m * n, 0);
    return;
  }
  const bool is_constant = has_constant(shape);
  const int64_t terms =
      std::min(k, is_constant ? constant_->terms : exact_terms(a.reach(), b.reach()));
  float* left = floats(run, checked_multiply(m, terms));
  float* right = is_constant ? nullptr : floats(run, checked_multiply(terms, n));
  float* sums = floats(run, checked_multiply(m, n));
  Odometer<2> at(layout.loop, layout.strides);
  for (int64_t p = 0; p < count; ++p) {
    const int64_t a_at = layout.loop.empty() ? p * m * k : at.offset(0);
    const int64_t b_at = layout.loop.empty() ? p * k * n : at.offset(1);
    for (int64_t row = 0; row < k; row += terms) {
      const int64_t length = std::min(terms, k - row);
      const ProductShape part = {.m = m, .k = length, .n = n};
      pack_rows(a, {a_at + row, m, length, k}, a_at / k, left);
      if (is_constant) {
        const auto chunk = static_cast<std::size_t>(row / terms);
        constant_->products[chunk]->multiply(run, states.of_chunks[chunk].get(), part, left,
                                             nullptr, nullptr, sums);
      } else {
        pack_columns(b, {b_at + row * n, length, n, n}, b_at / k, right);
        products_->multiply(run, states.usual.get(), part, left, right, nullptr, sums);
      }
      add_up(sums, row == 0, y + p * m * n, m * n);
    }
    if (!layout.loop.empty()) at.next();
  }
}

struct IntegerConvolutions::Constant {
  int64_t length = 0;  // channels in a chunk
  std::vector<std::vector<float>> chunks;
  std::vector<std::unique_ptr<Convolutions>> convolutions;
};

std::unique_ptr<IntegerConvolutions::Constant> IntegerConvolutions::make_constant(
    const NodeContext& context, std::size_t weights, std::size_t weights_zero_points) {
  const std::optional<QuantizedOperand> operand =
      constant_operand(context, weights, weights_zero_points);
  if (!operand || operand->value->rank < 3) return nullptr;
  const Dims shape = dims_of(*operand->value);
  const int64_t zeros = operand->zero_point_count();
  const int64_t taps = element_count(shape, 2, shape.size());
  const int64_t terms = exact_terms(kMaxReach, operand->reach());
  if ((zeros != 1 && zeros != shape[0]) || taps > terms) return nullptr;  // `run` refuses it
  auto made = std::make_unique<Constant>();
  made->length = std::min(shape[1], terms / taps);
  for (int64_t first = 0; first < shape[1]; first += made->length) {
    const int64_t part = std::min(made->length, shape[1] - first);
    auto& chunk = made->chunks.emplace_back(static_cast<std::size_t>(shape[0] * part * taps));
    pack_rows(*operand, {first * taps, shape[0], part * taps, shape[1] * taps}, 0, chunk.data());
    made->convolutions.push_back(
        std::make_unique<Convolutions>(context.settings().onednn, chunk.data()));
  }
  return made;
}

IntegerConvolutions::IntegerConvolutions(const NodeContext& context, std::size_t weights,
                                         std::size_t weights_zero_points)
    : convolutions_(context.settings().onednn, nullptr),
      constant_(make_constant(context, weights, weights_zero_points)) {}

std::unique_ptr<eph::State> IntegerConvolutions::create_state() const {
  auto states = std::make_unique<States>();
  states->usual = convolutions_.create_state();
  if (constant_ != nullptr) {
    for (const auto& convolutions : constant_->convolutions) {
      states->of_chunks.push_back(convolutions->create_state());
    }
  }
  return states;
}

void IntegerConvolutions::convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                                   const QuantizedOperand& x, const QuantizedOperand& weights,
                                   int32_t* y) {
  auto& states = *static_cast<States*>(state);
  const int64_t channels = shape.weights[1];  // in one group
  const int64_t outputs = shape.weights[0];
  const int64_t taps = element_count(shape.window.kernel);
  const int64_t plane = element_count(shape.x, 2, shape.x.size());
  const int64_t x_planes = checked_multiply(shape.x[0], shape.groups);
  check_zero_points(x, 1, 1);
  check_zero_points(weights, outputs, outputs);
  const int64_t terms = exact_terms(x.reach(), weights.reach());
  if (taps > terms) {
    fail_unsupported("a window of " + std::to_string(taps) + " elements is too large");
  }
  const bool is_constant = constant_ != nullptr;
  const int64_t length = is_constant ? constant_->length : std::min(channels, terms / taps);
  const int64_t sums_count = shape.x[0] * outputs * element_count(shape.window.output);
  float* x_part = floats(run, checked_multiply(x_planes * length, plane));
  float* weights_part = is_constant ? nullptr : floats(run, outputs * length * taps);
  float* sums = floats(run, sums_count);
  for (int64_t first = 0; first < channels; first += length) {
    const int64_t part = std::min(length, channels - first);
    pack_rows(x, {first * plane, x_planes, part * plane, channels * plane}, 0, x_part);
    ConvolutionShape chunk = shape;
    chunk.x[1] = shape.groups * part;
    chunk.weights[1] = part;
    chunk.has_bias = false;
    if (is_constant) {
      const auto i = static_cast<std::size_t>(first / length);
      constant_->convolutions[i]->convolve(run, states.of_chunks[i].get(), chunk, x_part, nullptr,
                                           nullptr, sums, 0);
    } else {
      pack_rows(weights, {first * taps, outputs, part * taps, channels * taps}, 0, weights_part);
      convolutions_.convolve(run, states.usual.get(), chunk, x_part, weights_part, nullptr, sums,
                             0);
    }
    add_up(sums, first == 0, y, sums_count);
  }
}

}  // namespace ephost_cpu
