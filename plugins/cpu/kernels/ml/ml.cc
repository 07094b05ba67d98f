#include "plugins/cpu/kernels/ml/ml.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

// Reads `count` elements from `first` on.
void read_numbers(const eph_value& value, int64_t first, int64_t count, std::vector<double>& out) {
  out.resize(static_cast<std::size_t>(count));
  if (value.element_type == EPH_ELEMENT_FLOAT16) {
    const auto* from = data<const uint16_t>(value) + first;
    std::transform(from, from + count, out.begin(), half_to_float);
    return;
  }
  dispatch<float, double, int32_t, int64_t>(value.element_type, [&](auto tag) {
    const auto* from = data<const typename decltype(tag)::type>(value) + first;
    std::transform(from, from + count, out.begin(),
                   [](auto number) { return static_cast<double>(number); });
  });
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The inverse of the error function: rational approximations for the tails and the middle, refined
// by Newton's method.
double inverse_erf(double y) {
  if (y <= -1 || y >= 1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  const double l = std::log1p(-y * y);
  constexpr double kA = 0.147;
  const double b = 2 / (M_PI * kA) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(b * b - l / kA) - b), y);
  for (int i = 0; i < 4; ++i) {
    x -= (std::erf(x) - y) * std::sqrt(M_PI) / 2 * std::exp(x * x);
  }
  return x;
}

// With `keeps_zeros`, scores of 0 stay 0 and are left out of the sum.
void softmax(std::vector<double>& scores, bool keeps_zeros) {
  if (scores.empty()) return;
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) {
    if (keeps_zeros && score == 0) continue;
    score = std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) {
    if (sum != 0) score /= sum;
  }
}

}  // namespace

// ---- Features ---------------------------------------------------------------------------------

Features::Features(const eph_value& value) : value_(value) {
  const Dims shape = dims_of(value);
  if (shape.size() > 1) rows_ = shape[0];
  columns_ = shape.size() > 1 ? element_count(shape, 1, shape.size()) : element_count(shape);
}

const std::vector<double>& Features::row(int64_t index) {
  read_numbers(value_, index * columns_, columns_, row_);
  return row_;
}

std::vector<double> numbers_in(const eph_value& tensor) {
  std::vector<double> numbers;
  read_numbers(tensor, 0, element_count(eph::shape_of(tensor)), numbers);
  return numbers;
}

std::vector<double> numbers_of(const eph::NodeView& node, const std::string& name) {
  if (const eph_value* tensor = node.get_tensor(name + "_as_tensor")) return numbers_in(*tensor);
  const eph::ArrayView<float> numbers = node.get_floats(name);
  return {numbers.begin(), numbers.end()};
}

// ---- Labels and scores ------------------------------------------------------------------------

ClassLabels::ClassLabels(const NodeContext& context, const char* strings, const char* integers)
    : numbers_(ints_of(context.node(), integers)) {
  for (const eph_string text : context.node().get_strings(strings)) {
    texts_.emplace_back(eph::view(text));
  }
  if (texts_.empty() == numbers_.empty()) {
    fail("one of the attributes '" + std::string(strings) + "' and '" + integers +
         "' must be given");
  }
}

void ClassLabels::write(eph::Run& run, int64_t element, std::size_t label) const {
  if (is_text()) {
    run.set_string(0, static_cast<uint64_t>(element), texts_[label]);
  } else {
    data<int64_t>(*run.output(0))[element] = numbers_[label];
  }
}

PostTransform post_transform_of(std::string_view name) {
  if (name == "NONE") return PostTransform::kNone;
  if (name == "SOFTMAX") return PostTransform::kSoftmax;
  if (name == "LOGISTIC") return PostTransform::kLogistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (name == "PROBIT") return PostTransform::kProbit;
  fail(quoted(name) + " is not a post_transform");
}

void apply(PostTransform transform, std::vector<double>& scores) {
  switch (transform) {
    case PostTransform::kNone:
      break;
    case PostTransform::kSoftmax:
      softmax(scores, false);
      break;
    case PostTransform::kSoftmaxZero:
      softmax(scores, true);
      break;
    case PostTransform::kLogistic:
      std::transform(scores.begin(), scores.end(), scores.begin(), logistic);
      break;
    case PostTransform::kProbit:
      for (double& score : scores) score = M_SQRT2 * inverse_erf(2 * score - 1);
      break;
  }
}

std::size_t index_of_largest(const std::vector<double>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

std::vector<double> two_scores(double score, bool is_probability, PostTransform transform) {
  if (is_probability) return {1 - score, score};
  std::vector<double> scores = {-score, score};
  apply(transform, scores);
  return scores;
}

ScoreTable::ScoreTable(eph::Run& run, uint32_t output, int64_t rows, int64_t columns,
                       int32_t element_type)
    : columns_(columns) {
  if (run.output(output) == nullptr) return;
  value_ = &allocate_output(run, output, element_type, {rows, columns});
}

void ScoreTable::set(int64_t row, const std::vector<double>& scores) {
  if (value_ == nullptr) return;
  if (value_->element_type == EPH_ELEMENT_DOUBLE) {
    std::copy(scores.begin(), scores.end(), data<double>(*value_) + row * columns_);
    return;
  }
  std::transform(scores.begin(), scores.end(), data<float>(*value_) + row * columns_,
                 [](double score) { return static_cast<float>(score); });
}

}  // namespace ephost_cpu
