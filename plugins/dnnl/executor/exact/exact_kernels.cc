#include "plugins/dnnl/executor/exact/exact_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "plugins/dnnl/executor/for_blocks.h"

namespace ephost_dnnl {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kRootOfHalf = 0.70710678F;
constexpr float kRootOfTwoByPi = 0.79788456F;

// NaN if one of them is.
float greater(float a, float b) { return a > b || std::isnan(a) ? a : b; }
float lesser(float a, float b) { return a < b || std::isnan(a) ? a : b; }
float clipped(float x, float low, float high) { return lesser(greater(x, low), high); }

float relu(float x, float slope) {
  if (x > 0 || std::isnan(x)) return x;
  return slope == 0 ? 0 : slope * x;
}

// Calls body(index of the element, offset of its partner) for all elements of a row-major tensor.
// A step along dimension d moves the partner by strides[d] elements.
template <class Body>
void for_pairs(const Dims& dims, const Dims& strides, const Body& body) {
  Dims at(dims.size(), 0);
  int64_t partner = 0;
  const int64_t count = element_count(dims);
  for (int64_t i = 0; i < count; ++i) {
    body(i, partner);
    for (std::size_t d = dims.size(); d-- > 0;) {
      partner += strides[d];
      if (++at[d] < dims[d]) break;
      partner -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
}

// The strides of a row-major tensor that is broadcast: 0 along extents of 1.
Dims broadcast_strides(const Dims& dims) {
  Dims strides(dims.size(), 0);
  int64_t stride = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1) strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

const float* floats(const void* data) { return static_cast<const float*>(data); }

class ExactEltwise : public OwnKernel {
 public:
  ExactEltwise(const Eltwise& op, int64_t count) : op_(op), count_(count) {}

  void run(const void* const* inputs, void* output) const override {
    for_blocks(count_, [&](int64_t first, int64_t count) {
      compute_exactly(op_, floats(inputs[0]) + first, count, static_cast<float*>(output) + first);
    });
  }

 private:
  Eltwise op_;
  int64_t count_;
};

class ExactBinary : public OwnKernel {
 public:
  ExactBinary(BinaryFunction function, const Dims& a, const Dims& b)
      : function_(function), dims_(a), strides_(broadcast_strides(b)) {}

  void run(const void* const* inputs, void* output) const override {
    const float *a = floats(inputs[0]), *b = floats(inputs[1]);
    auto* const to = static_cast<float*>(output);
    for_pairs(dims_, strides_, [&](int64_t i, int64_t partner) {
      to[i] = compute_exactly(function_, a[i], b[partner]);
    });
  }

 private:
  BinaryFunction function_;
  Dims dims_, strides_;
};

// A reduction to maxima or minima.
class ExactReduction : public OwnKernel {
 public:
  ExactReduction(bool is_max, const Dims& data, const Dims& output)
      : is_max_(is_max),
        dims_(data),
        strides_(broadcast_strides(output)),
        count_(element_count(output)) {}

  void run(const void* const* inputs, void* output) const override {
    const float* const from = floats(inputs[0]);
    auto* const to = static_cast<float*>(output);
    std::fill_n(to, count_, is_max_ ? -kInfinity : kInfinity);
    for_pairs(dims_, strides_, [&](int64_t i, int64_t partner) {
      to[partner] = is_max_ ? greater(from[i], to[partner]) : lesser(from[i], to[partner]);
    });
  }

 private:
  bool is_max_;
  Dims dims_, strides_;
  int64_t count_;
};

class ExactSoftmax : public OwnKernel {
 public:
  ExactSoftmax(const Softmax& op, const Dims& dims)
      : is_logarithm_(op.logarithm != 0),
        extent_(dims[static_cast<std::size_t>(op.axis)]),
        inner_(std::accumulate(dims.begin() + op.axis + 1, dims.end(), int64_t{1},
                               std::multiplies<>())),
        rows_(element_count(dims) / extent_) {}

  void run(const void* const* inputs, void* output) const override {
#pragma omp parallel for if (rows_ > 1)
    for (int64_t row = 0; row < rows_; ++row) {
      const int64_t first = row / inner_ * extent_ * inner_ + row % inner_;
      compute_row(floats(inputs[0]) + first, static_cast<float*>(output) + first);
    }
  }

 private:
  void compute_row(const float* from, float* to) const {
    float best = -kInfinity;
    for (int64_t i = 0; i < extent_; ++i) best = greater(from[i * inner_], best);
    double sum = 0;
    for (int64_t i = 0; i < extent_; ++i) {
      const float shifted = from[i * inner_] - best;
      const float power = std::exp(shifted);
      sum += power;
      to[i * inner_] = is_logarithm_ ? shifted : power;
    }
    const auto total = static_cast<float>(is_logarithm_ ? std::log(sum) : sum);
    for (int64_t i = 0; i < extent_; ++i) {
      float& element = to[i * inner_];
      element = is_logarithm_ ? element - total : element / total;
    }
  }

  bool is_logarithm_;
  int64_t extent_, inner_, rows_;
};

class ExactMaxPooling : public OwnKernel {
 public:
  ExactMaxPooling(const Pooling& op, const Dims& data, const Dims& output)
      : planes_(data[0] * data[1]) {
    // Missing dimensions come first, with an extent of 1.
    const std::size_t given = data.size() - 2, missing = axes_.size() - given;
    for (std::size_t i = 0; i < given; ++i) {
      axes_[missing + i] = {data[i + 2],   output[i + 2],   op.kernel[i],
                            op.strides[i], op.dilations[i], op.pads_begin[i]};
    }
  }

  void run(const void* const* inputs, void* output) const override {
    const auto& [depth, height, width] = axes_;
    const int64_t read = depth.data * height.data * width.data;
    const int64_t written = depth.positions * height.positions * width.positions;
#pragma omp parallel for if (planes_ > 1)
    for (int64_t plane = 0; plane < planes_; ++plane) {
      const float* const from = floats(inputs[0]) + plane * read;
      float* to = static_cast<float*>(output) + plane * written;
      for (int64_t z = 0; z < depth.positions; ++z) {
        for (int64_t y = 0; y < height.positions; ++y) {
          for (int64_t x = 0; x < width.positions; ++x) *to++ = greatest(from, {z, y, x});
        }
      }
    }
  }

 private:
  struct Axis {
    int64_t data = 1, positions = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;
    // Where element k of the window lies; outside of the data if it is padding.
    [[nodiscard]] int64_t at(int64_t position, int64_t k) const {
      return position * stride - pad + k * dilation;
    }
    [[nodiscard]] bool has(int64_t index) const { return index >= 0 && index < data; }
  };

  [[nodiscard]] float greatest(const float* plane, const std::array<int64_t, 3>& position) const {
    const auto& [depth, height, width] = axes_;
    float best = -kInfinity;
    for (int64_t i = 0; i < depth.kernel; ++i) {
      const int64_t z = depth.at(position[0], i);
      if (!depth.has(z)) continue;
      for (int64_t j = 0; j < height.kernel; ++j) {
        const int64_t y = height.at(position[1], j);
        if (!height.has(y)) continue;
        const float* const row = plane + (z * height.data + y) * width.data;
        for (int64_t k = 0; k < width.kernel; ++k) {
          const int64_t x = width.at(position[2], k);
          if (width.has(x)) best = greater(row[x], best);
        }
      }
    }
    return best;
  }

  int64_t planes_;
  std::array<Axis, 3> axes_;
};

}  // namespace

void compute_exactly(const Eltwise& op, const float* from, int64_t count, float* to) {
  const auto [function, alpha, beta] = op;
  const auto each = [&](const auto& body) { std::transform(from, from + count, to, body); };
  switch (function) {
    case EltwiseFunction::kRelu:
      return each([a = alpha](float x) { return relu(x, a); });
    case EltwiseFunction::kElu:
      return each([a = alpha](float x) { return x > 0 ? x : a * std::expm1(x); });
    case EltwiseFunction::kTanh:
      return each([](float x) { return std::tanh(x); });
    case EltwiseFunction::kLogistic:
      return each([](float x) { return 1 / (1 + std::exp(-x)); });
    case EltwiseFunction::kExp:
      return each([](float x) { return std::exp(x); });
    case EltwiseFunction::kLog:
      return each([](float x) { return std::log(x); });
    case EltwiseFunction::kSqrt:
      return each([](float x) { return std::sqrt(x); });
    case EltwiseFunction::kSquare:
      return each([](float x) { return x * x; });
    case EltwiseFunction::kAbs:
      return each([](float x) { return std::abs(x); });
    case EltwiseFunction::kClip:
      return each([a = alpha, b = beta](float x) { return clipped(x, a, b); });
    case EltwiseFunction::kLinear:
      return each([a = alpha, b = beta](float x) { return a * x + b; });
    case EltwiseFunction::kPow:
      return each([a = alpha, b = beta](float x) { return a * std::pow(x, b); });
    case EltwiseFunction::kGeluErf:
      return each([](float x) { return x / 2 * (1 + std::erf(x * kRootOfHalf)); });
    case EltwiseFunction::kHardSwish:
      return each([](float x) { return x * clipped(x / 6 + 0.5F, 0, 1); });
    case EltwiseFunction::kGeluTanh:
      return each([](float x) {
        const float cube = 0.044715F * x * x * x;
        return x / 2 * (1 + std::tanh(kRootOfTwoByPi * (x + cube)));
      });
    case EltwiseFunction::kSwish:
      return each([a = alpha](float x) { return x / (1 + std::exp(-a * x)); });
  }
}

float compute_exactly(BinaryFunction function, float a, float b) {
  switch (function) {
    case BinaryFunction::kAdd:
      return a + b;
    case BinaryFunction::kSub:
      return a - b;
    case BinaryFunction::kMul:
      return a * b;
    case BinaryFunction::kDiv:
      return a / b;
    case BinaryFunction::kMax:
      return greater(a, b);
    case BinaryFunction::kMin:
      return lesser(a, b);
  }
  return a;
}

std::shared_ptr<const OwnKernel> make_exact_kernel(const Op& op, const std::vector<Dims>& inputs,
                                                   const Dims& output) {
  if (const auto* eltwise = get_if<Eltwise>(op)) {
    return std::make_shared<ExactEltwise>(*eltwise, element_count(output));
  }
  if (const auto* binary = get_if<Binary>(op)) {
    return std::make_shared<ExactBinary>(binary->function, inputs[0], inputs[1]);
  }
  if (const auto* softmax = get_if<Softmax>(op)) {
    return std::make_shared<ExactSoftmax>(*softmax, output);
  }
  const auto* reduction = get_if<Reduction>(op);
  if (reduction != nullptr &&
      (reduction->kind == ReductionKind::kMax || reduction->kind == ReductionKind::kMin)) {
    return std::make_shared<ExactReduction>(reduction->kind == ReductionKind::kMax, inputs[0],
                                            output);
  }
  const auto* pooling = get_if<Pooling>(op);
  if (pooling != nullptr && pooling->kind == PoolingKind::kMax) {
    return std::make_shared<ExactMaxPooling>(*pooling, inputs[0], output);
  }
  return nullptr;
}

}  // namespace ephost_dnnl
