// BatchNormalization at inference, InstanceNormalization and LayerNormalization.
#include <cmath>

#include "plugins/cpu/broadcast.h"
#include "plugins/cpu/odometer.h"
#include "plugins/cpu/parallel.h"
#include "plugins/cpu/registry.h"
#include "plugins/cpu/row_math.h"

namespace cpu {
namespace {

void check_vector(const eph_value& value, int64_t extent, const char* name) {
  if (element_count(eph::shape_of(value)) != extent) {
    fail(std::string("input '") + name + "' of shape " + to_string(eph::shape_of(value)) +
         " does not have " + std::to_string(extent) + " elements");
  }
}

class BatchNormalization final : public Kernel {
 public:
  explicit BatchNormalization(const NodeContext& context)
      : Kernel(context),
        epsilon_(context.node().get_float("epsilon", 1e-5F)),
        spatial_(context.node().get_int("spatial", 1) != 0) {
    bool trains = context.node().get_int("training_mode", 0) != 0;
    for (std::size_t i = 1; i < context.output_count(); ++i) {
      trains = trains || context.node().output(i) != EPH_NONE;
    }
    if (trains) fail_unsupported("training is not supported");
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    // Without `spatial`, each position has statistics of its own: all of them are channels.
    const std::size_t end = spatial_ ? std::min<std::size_t>(2, shape.size()) : shape.size();
    const int64_t channels = shape.size() < 2 ? 1 : element_count(shape, 1, end);
    const int64_t plane = element_count(shape, end, shape.size());
    static constexpr const char* kNames[] = {"X", "scale", "B", "mean", "var"};
    for (uint32_t i = 1; i < 5; ++i) check_vector(*run.input(i), channels, kNames[i]);
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    const int64_t count = element_count(shape);
    if (count == 0) return;
    dispatch<float, double>(x.element_type, [&](auto tag) {
      normalize<typename decltype(tag)::type>(run, y, channels, plane, count / plane);
    });
  }

 private:
  template <class T>
  void normalize(const eph::Run& run, const eph_value& y, int64_t channels, int64_t plane,
                 int64_t planes) const {
    const T* x = run.input_data<T>(0);
    const T* scale = run.input_data<T>(1);
    const T* bias = run.input_data<T>(2);
    const T* mean = run.input_data<T>(3);
    const T* variance = run.input_data<T>(4);
    T* out = data<T>(y);
    const T epsilon = static_cast<T>(epsilon_);
    parallel_for(planes, 2 + 0.2 * static_cast<double>(plane), [=](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t c = p % channels;
        const T factor = scale[c] / std::sqrt(variance[c] + epsilon);
        row_affine(x + p * plane, factor, bias[c] - mean[c] * factor, out + p * plane, plane);
      }
    });
  }

  float epsilon_;
  bool spatial_;
};

// Mean, and one over the standard deviation.
template <class T>
struct Moments {
  T mean, inverse_deviation;
};

template <class T>
Moments<T> moments(const T* x, int64_t count, float epsilon) {
  const double mean = row_sum(x, count) / static_cast<double>(count);
  const double squares = row_sum_squares(x, static_cast<T>(mean), count);
  const double variance = squares / static_cast<double>(count) + static_cast<double>(epsilon);
  return {static_cast<T>(mean), static_cast<T>(1 / std::sqrt(variance))};
}

class InstanceNormalization final : public Kernel {
 public:
  explicit InstanceNormalization(const NodeContext& context)
      : Kernel(context), epsilon_(context.node().get_float("epsilon", 1e-5F)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has no channels");
    check_vector(*run.input(1), shape[1], "scale");
    check_vector(*run.input(2), shape[1], "B");
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    if (element_count(shape) == 0) return;
    const int64_t plane = element_count(shape, 2, shape.size());
    dispatch<float, double>(x.element_type, [&](auto tag) {
      normalize<typename decltype(tag)::type>(run, y, shape, plane);
    });
  }

 private:
  template <class T>
  void normalize(const eph::Run& run, const eph_value& y, const Dims& shape, int64_t plane) const {
    const T* x = run.input_data<T>(0);
    const T* scale = run.input_data<T>(1);
    const T* bias = run.input_data<T>(2);
    T* out = data<T>(y);
    const int64_t channels = shape[1];
    const double cost = 1.0 * static_cast<double>(plane);
    parallel_for(shape[0] * channels, cost, [=, this](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const Moments<T> m = moments(x + p * plane, plane, epsilon_);
        const T factor = scale[p % channels] * m.inverse_deviation;
        row_affine(x + p * plane, factor, bias[p % channels] - m.mean * factor, out + p * plane,
                   plane);
      }
    });
  }

  float epsilon_;
};

class LayerNormalization final : public Kernel {
 public:
  explicit LayerNormalization(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", -1)),
        epsilon_(context.node().get_float("epsilon", 1e-5F)) {
    if (context.node().get_int("stash_type", 1) != EPH_FLOAT) {
      fail_unsupported("attribute stash_type is another one than float");
    }
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    Dims normalized;
    Dims statistics = shape;
    for (std::size_t d = axis; d < shape.size(); ++d) {
      normalized.push_back(shape[d]);
      statistics[d] = 1;
    }
    if (run.output(0) != nullptr) allocate_output(run, 0, x.element_type, shape);
    for (uint32_t i = 1; i < 3; ++i) {
      if (run.output(i) != nullptr) allocate_output(run, i, EPH_FLOAT, statistics);
    }
    const int64_t extent = element_count(normalized);
    if (element_count(statistics) == 0) return;
    if (extent == 0) fail("there is nothing to normalise in " + to_string(shape));
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* scale = weights<T>(run, 1, normalized);
      const T* bias = run.input(2) != nullptr ? weights<T>(run, 2, normalized) : nullptr;
      normalize(run, scale, bias, extent, element_count(statistics));
    });
  }

 private:
  // Input i with an element for each normalised one: itself, or spread out.
  template <class T>
  static const T* weights(eph::Run& run, uint32_t i, const Dims& normalized) {
    const eph_value& given = *run.input(i);
    const Dims shape = dims_of(given);
    if (shape == normalized) return data<const T>(given);
    if (!(broadcast_shape(shape, normalized) == normalized)) {
      fail("input " + std::to_string(i) + " of shape " + to_string(shape) +
           " cannot be broadcast to the normalised " + to_string(normalized));
    }
    const int64_t count = element_count(normalized);
    auto* spread = static_cast<T*>(run.scratch(static_cast<uint64_t>(count) * sizeof(T)));
    Odometer<1> at(normalized, {broadcast_strides(shape, normalized)});
    for (int64_t e = 0; e < count; ++e, at.next()) spread[e] = data<const T>(given)[at.offset(0)];
    return spread;
  }

  template <class T>
  void normalize(const eph::Run& run, const T* scale, const T* bias, int64_t extent,
                 int64_t rows) const {
    const T* x = run.input_data<T>(0);
    T* y = run.output(0) != nullptr ? data<T>(*run.output(0)) : nullptr;
    float* means = run.output(1) != nullptr ? data<float>(*run.output(1)) : nullptr;
    float* deviations = run.output(2) != nullptr ? data<float>(*run.output(2)) : nullptr;
    parallel_for(rows, 1.0 * static_cast<double>(extent), [=, this](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const Moments<T> m = moments(x + r * extent, extent, epsilon_);
        if (means != nullptr) means[r] = static_cast<float>(m.mean);
        if (deviations != nullptr) deviations[r] = static_cast<float>(m.inverse_deviation);
        if (y == nullptr) continue;
        row_weighted_affine(x + r * extent, m.inverse_deviation, -m.mean * m.inverse_deviation,
                            scale, bias, y + r * extent, extent);
      }
    });
  }

  int64_t axis_;
  float epsilon_;
};

constexpr auto& kFive = kInputTypes<kFloat, kFloat, kFloat, kFloat, kFloat>;
constexpr auto& kThree = kInputTypes<kFloat, kFloat, kFloat>;
constexpr Inputs kAllFive = {.required = 5, .same_type = 0b11111};
constexpr Inputs kAllThree = {.required = 3, .same_type = 0b111};
constexpr Inputs kTwoOrThree = {.required = 2, .same_type = 0b111};

constexpr KernelEntry kEntries[] = {
    {"BatchNormalization", 7, 15, kAllFive, kFive, &make<BatchNormalization>},
    {"InstanceNormalization", 6, 6, kAllThree, kThree, &make<InstanceNormalization>},
    {"LayerNormalization", 17, 17, kTwoOrThree, kThree, &make<LayerNormalization>},
};

}  // namespace

Table normalization_kernels() { return kEntries; }

}  // namespace cpu
