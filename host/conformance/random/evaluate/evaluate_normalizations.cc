// Operators that scale by statistics of the data: normalizations and softmax.
#include <algorithm>

#include "host/conformance/random/evaluate/evaluate.h"

namespace ephost::conformance {
namespace {

Bounded exact(double value) { return {value, 0}; }

Outputs batch_normalization(const Invocation& node) {
  BoundedTensor y = node.input(0);
  require(y.dims.size() >= 2, "data without channels");
  require(node.integer("training_mode", 0) == 0, "training");
  const auto channels = static_cast<std::size_t>(y.dims[1]);
  for (std::size_t i = 1; i < 5; ++i) {
    require(node.input(i).dims == Dims{y.dims[1]}, "statistics that do not fit the channels");
  }
  require(!y.numbers.empty(), "no data");
  const std::size_t plane = y.numbers.size() / channels / static_cast<std::size_t>(y.dims[0]);
  for (std::size_t i = 0; i < y.numbers.size(); ++i) {
    const std::size_t channel = i / plane % channels;
    const auto statistic = [&](std::size_t input) { return node.input(input).numbers[channel]; };
    const Bounded variance = statistic(4) + exact(node.real("epsilon", 1e-5));
    const bool is_finite = std::isfinite(statistic(1).value) && std::isfinite(statistic(3).value);
    // What infinities give here depends on the order of the operations.
    if (variance.low() <= 0 || !std::isfinite(variance.value) || !is_finite) {
      y.numbers[i] = unspecified();
      continue;
    }
    const Bounded factor = statistic(1) * power(variance, -0.5);
    const Bounded scaled = y.numbers[i] * factor, shift = statistic(3) * factor;
    const Bounded result = scaled - shift + statistic(2);
    // Folded into a convolution, mean and bias become one offset, which is rounded separately.
    y.numbers[i] =
        rounded(result.value, result.error, std::fabs(scaled.value) + std::fabs(shift.value));
  }
  return {std::move(y)};
}

void normalize_row(Bounded* row, std::size_t count, double epsilon) {
  Sum sum, squares;
  for (std::size_t i = 0; i < count; ++i) sum.add(row[i]);
  const Bounded length = exact(static_cast<double>(count)), mean = sum.total() / length;
  for (std::size_t i = 0; i < count; ++i) {
    row[i] = row[i] - mean;
    squares.add_product(row[i], row[i]);
  }
  const Bounded variance = squares.total() / length + exact(epsilon);
  const bool is_finite = variance.low() > 0 && std::isfinite(variance.value);
  const Bounded factor = is_finite ? power(variance, -0.5) : unspecified();
  for (std::size_t i = 0; i < count; ++i) row[i] = row[i] * factor;
}

Outputs layer_normalization(const Invocation& node) {
  BoundedTensor y = node.input(0);
  const std::size_t axis = normalized_axis(node.integer("axis", -1), y.dims.size());
  const Dims inner(y.dims.begin() + static_cast<std::ptrdiff_t>(axis), y.dims.end());
  const auto columns = static_cast<std::size_t>(element_count(inner));
  require(columns > 0, "nothing to normalize");
  for (std::size_t row = 0; row < y.numbers.size(); row += columns) {
    normalize_row(&y.numbers[row], columns, node.real("epsilon", 1e-5));
  }
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    const BoundedTensor& factor = node.input(i);
    const auto positions = broadcast_positions(factor.dims, y.dims);
    for (std::size_t k = 0; k < y.numbers.size(); ++k) {
      const Bounded number = factor.numbers[positions[k]];
      y.numbers[k] = i == 1 ? y.numbers[k] * number : y.numbers[k] + number;
    }
  }
  return {std::move(y)};
}

Outputs lrn(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  require(x.dims.size() >= 3, "data without spatial dimensions");
  const int64_t size = node.integer("size", 0), channels = x.dims[1];
  require(!x.numbers.empty(), "no data");
  const auto plane = static_cast<int64_t>(x.numbers.size()) / x.dims[0] / channels;
  const Bounded alpha = exact(node.real("alpha", 1e-4) / static_cast<double>(size));
  BoundedTensor y = x;
  for (int64_t i = 0; i < std::ssize(x.numbers); ++i) {
    const int64_t channel = i / plane % channels;
    const int64_t first = std::max<int64_t>(0, channel - (size - 1) / 2);
    const int64_t last = std::min(channels - 1, channel + size / 2);
    Sum squares;
    for (int64_t c = first; c <= last; ++c) {
      const Bounded at = x.numbers[static_cast<std::size_t>(i + (c - channel) * plane)];
      squares.add_product(at, at);
    }
    const Bounded base = exact(node.real("bias", 1)) + alpha * squares.total();
    require(base.low() > 0, "a base that may be negative");
    y.numbers[static_cast<std::size_t>(i)] =
        x.numbers[static_cast<std::size_t>(i)] * power(base, -node.real("beta", 0.75));
  }
  return {std::move(y)};
}

// The softmax of elements `stride` apart.
void softmax_row(Bounded* row, std::size_t count, std::size_t stride, bool is_logarithm) {
  double largest = -std::numeric_limits<double>::infinity(), error = 0, magnitude = 0;
  bool is_certain = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Bounded x = row[i * stride];
    is_certain = is_certain && x.is_specified() && std::isfinite(x.value);
    largest = std::fmax(largest, x.value);
    magnitude = std::fmax(magnitude, std::fabs(x.value));
    error = std::fmax(error, x.error);
  }
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(row[i * stride].value - largest);
  const double roundings = 64 + static_cast<double>(count) + 4 * magnitude;
  // Each exponent is off by no more than twice the error of an element.
  const double spread = std::expm1(2 * error + roundings * kRoundoff);
  for (std::size_t i = 0; i < count; ++i) {
    const double shifted = row[i * stride].value - largest;
    Bounded y = is_logarithm
                    ? rounded(shifted - std::log(sum), 2 * error, 1 + magnitude, roundings)
                    : rounded(std::exp(shifted) / sum, std::exp(shifted) / sum * spread, 0);
    row[i * stride] = is_certain ? y : unspecified();
  }
}

Outputs softmax_kind(const Invocation& node, bool is_logarithm) {
  BoundedTensor y = node.input(0);
  // Before version 13 everything from the axis on is one row.
  const bool sees_matrix = node.opset() < 13;
  const std::size_t axis =
      normalized_axis(node.integer("axis", sees_matrix ? 1 : -1), y.dims.size());
  const auto from_axis = y.dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto inner =
      static_cast<std::size_t>(sees_matrix ? 1 : element_count({from_axis + 1, y.dims.end()}));
  const auto length = static_cast<std::size_t>(
      sees_matrix ? element_count({from_axis, y.dims.end()}) : y.dims[axis]);
  for (std::size_t block = 0; block < y.numbers.size(); block += length * inner) {
    for (std::size_t i = 0; i < inner; ++i) {
      softmax_row(&y.numbers[block + i], length, inner, is_logarithm);
    }
  }
  return {std::move(y)};
}

Outputs softmax(const Invocation& node) { return softmax_kind(node, false); }
Outputs log_softmax(const Invocation& node) { return softmax_kind(node, true); }

}  // namespace

const Evaluations& normalization_evaluations() {
  static const Evaluations kEvaluations = {
      {"BatchNormalization", &batch_normalization},
      {"LRN", &lrn},
      {"LayerNormalization", &layer_normalization},
      {"LogSoftmax", &log_softmax},
      {"Softmax", &softmax},
  };
  return kEvaluations;
}

}  // namespace ephost::conformance
