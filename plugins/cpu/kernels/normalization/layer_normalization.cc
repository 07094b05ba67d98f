// LayerNormalization, RMSNormalization and ONNX Runtime's SimplifiedLayerNormalization, which is
// the latter with a second output: rows over the last dimensions, from `axis` on.
#include <cmath>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/normalization/moments.h"

namespace ephost_cpu {
namespace {

// The input as rows that are normalised.
struct NormalizedRows {
  Dims shape;       // of the input
  Dims normalized;  // of a row
  Dims statistics;  // one element for each row
  int64_t rows, extent;
};

NormalizedRows make_rows(const Dims& shape, int64_t axis) {
  const std::size_t first = normalize_axis(axis, shape.size());
  NormalizedRows rows = {shape, {}, shape, element_count(shape, 0, first), 0};
  for (std::size_t d = first; d < shape.size(); ++d) {
    rows.normalized.push_back(shape[d]);
    rows.statistics[d] = 1;
  }
  rows.extent = element_count(rows.normalized);
  if (rows.rows > 0 && rows.extent == 0)
    fail("there is nothing to normalise in " + to_string(shape));
  return rows;
}

// Scale or bias with an element for each element of a row. A stride of 0 shares it between all
// rows.
template <class T>
struct Weights {
  const T* data = nullptr;
  int64_t stride = 0;

  [[nodiscard]] const T* of_row(int64_t row) const {
    return data == nullptr ? nullptr : data + row * stride;
  }
};

// Repeats a tensor along the dimensions in which it is smaller than `to`.
template <class T>
const T* spread(eph::Run& run, const T* from, const Dims& shape, const Dims& to) {
  const int64_t count = element_count(to);
  auto* copy = static_cast<T*>(run.scratch(static_cast<uint64_t>(count) * sizeof(T)));
  Odometer<1> at(to, {broadcast_strides(shape, to)});
  for (int64_t e = 0; e < count; ++e, at.next()) copy[e] = from[at.offset(0)];
  return copy;
}

template <class T>
Weights<T> weights(eph::Run& run, FloatArguments& arguments, uint32_t i,
                   const NormalizedRows& rows) {
  if (run.input(i) == nullptr) return {};
  const Dims shape = dims_of(*run.input(i));
  const T* data = arguments.input<T>(i);
  if (shape == rows.normalized) return {data, 0};
  const bool fits_row = shape.size() <= rows.normalized.size() &&
                        broadcast_shape(shape, rows.normalized) == rows.normalized;
  const Dims& to = fits_row ? rows.normalized : rows.shape;
  if (!(broadcast_shape(shape, to) == to)) {
    fail("input " + std::to_string(i) + " of shape " + to_string(shape) +
         " cannot be broadcast to the input's " + to_string(to));
  }
  return {spread(run, data, shape, to), fits_row ? 0 : rows.extent};
}

// The type of the statistics. They are computed in it or a wider one.
int32_t stash_type(const NodeContext& context) {
  const int64_t type = context.node().get_int("stash_type", EPH_ELEMENT_FLOAT);
  if (type != EPH_ELEMENT_FLOAT && type != EPH_ELEMENT_BFLOAT16 && type != EPH_ELEMENT_FLOAT16 &&
      type != EPH_ELEMENT_DOUBLE) {
    fail("attribute stash_type=" + std::to_string(type) + " is not a floating-point type");
  }
  return static_cast<int32_t>(type);
}

class LayerNormalization final : public Kernel {
 public:
  explicit LayerNormalization(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", -1)),
        epsilon_(context.node().get_float("epsilon", 1e-5F)),
        stash_type_(stash_type(context)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const NormalizedRows rows = make_rows(dims_of(x), axis_);
    dispatch_compute_type(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      T* y = arguments.optional_output<T>(0, x.element_type, rows.shape);
      T* means = arguments.optional_output<T>(1, stash_type_, rows.statistics);
      T* deviations = arguments.optional_output<T>(2, stash_type_, rows.statistics);
      if (rows.rows == 0) return;
      const auto scale = weights<T>(run, arguments, 1, rows);
      const auto bias = weights<T>(run, arguments, 2, rows);
      normalize(rows, arguments.input<T>(0), scale, bias, y, means, deviations);
      arguments.finish();
    });
  }

 private:
  template <class T>
  void normalize(const NormalizedRows& rows, const T* x, const Weights<T>& scale,
                 const Weights<T>& bias, T* y, T* means, T* deviations) const {
    const int64_t extent = rows.extent;
    const double cost = static_cast<double>(extent);
    parallel_for(rows.rows, cost, [=, this](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const Moments<T> m = moments(x + r * extent, extent, epsilon_);
        if (means != nullptr) means[r] = m.mean;
        if (deviations != nullptr) deviations[r] = m.inverse_deviation;
        if (y == nullptr) continue;
        row_weighted_affine(x + r * extent, m.inverse_deviation, -m.mean * m.inverse_deviation,
                            scale.of_row(r), bias.of_row(r), y + r * extent, extent);
      }
    });
  }

  int64_t axis_;
  float epsilon_;
  int32_t stash_type_;
};

class RmsNormalization final : public Kernel {
 public:
  explicit RmsNormalization(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", -1)),
        epsilon_(context.node().get_float("epsilon", 1e-5F)),
        stash_type_(stash_type(context)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const NormalizedRows rows = make_rows(dims_of(x), axis_);
    dispatch_compute_type(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      T* y = arguments.optional_output<T>(0, x.element_type, rows.shape);
      T* deviations = arguments.optional_output<T>(1, stash_type_, rows.statistics);
      if (rows.rows == 0) return;
      normalize(rows, arguments.input<T>(0), weights<T>(run, arguments, 1, rows), y, deviations);
      arguments.finish();
    });
  }

 private:
  template <class T>
  void normalize(const NormalizedRows& rows, const T* x, const Weights<T>& scale, T* y,
                 T* deviations) const {
    const int64_t extent = rows.extent;
    const double cost = 0.7 * static_cast<double>(extent);
    parallel_for(rows.rows, cost, [=, this](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const double squares = row_sum_squares(x + r * extent, T{0}, extent);
        const double mean = squares / static_cast<double>(extent);
        const auto factor = static_cast<T>(1 / std::sqrt(mean + static_cast<double>(epsilon_)));
        if (deviations != nullptr) deviations[r] = factor;
        if (y == nullptr) continue;
        row_weighted_affine(x + r * extent, factor, T{0}, scale.of_row(r),
                            static_cast<const T*>(nullptr), y + r * extent, extent);
      }
    });
  }

  int64_t axis_;
  float epsilon_;
  int32_t stash_type_;
};

constexpr KernelEntry kLayerNormalizationKernels[] = {
    {"LayerNormalization", 17, kNewest, kTwoOrThreeAlike, kThreeFloats, &make<LayerNormalization>},
    {"RMSNormalization", 23, kNewest, kTwoInputs, kTwoFloats, &make<RmsNormalization>},
    {"SimplifiedLayerNormalization", 1, kNewest, kTwoInputs, kTwoFloats, &make<RmsNormalization>},
};

}  // namespace

Table layer_normalization_kernels() { return kLayerNormalizationKernels; }

}  // namespace ephost_cpu
