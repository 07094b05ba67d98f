// InstanceNormalization, GroupNormalization, MeanVarianceNormalization and LpNormalization.
#include <algorithm>
#include <array>
#include <cmath>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/normalization/moments.h"

namespace ephost_cpu {
namespace {

// Normalises each of `groups` groups of neighbouring channels of each image, then applies the scale
// and shift of each channel or group.
struct ChannelGroups {
  int64_t images, groups, channels, plane;  // `channels` of one group
  bool weights_by_group = false;
};

template <class T>
void normalize_groups(const ChannelGroups& shape, const T* x, const T* scale, const T* bias, T* y,
                      float epsilon) {
  const int64_t extent = shape.channels * shape.plane;
  const double cost = static_cast<double>(extent);
  parallel_for(shape.images * shape.groups, cost, [=, &shape](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const Moments<T> m = moments(x + g * extent, extent, epsilon);
      const int64_t group = g % shape.groups;
      for (int64_t c = 0; c < shape.channels; ++c) {
        const int64_t weight = shape.weights_by_group ? group : group * shape.channels + c;
        const T factor = scale[weight] * m.inverse_deviation;
        const int64_t at = g * extent + c * shape.plane;
        row_affine(x + at, factor, bias[weight] - m.mean * factor, y + at, shape.plane);
      }
    }
  });
}

class GroupedNormalization : public Kernel {
 public:
  explicit GroupedNormalization(const NodeContext& context)
      : Kernel(context), epsilon_(context.node().get_float("epsilon", 1e-5F)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has no channels");
    const ChannelGroups groups = make_groups(shape);
    const int64_t weights = groups.groups * (groups.weights_by_group ? 1 : groups.channels);
    check_vector(*run.input(1), weights, "scale");
    check_vector(*run.input(2), weights, "bias");
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, shape));
      if (element_count(shape) == 0) return;
      normalize_groups(groups, run.input_data<T>(0), run.input_data<T>(1), run.input_data<T>(2), y,
                       epsilon_);
    });
  }

  [[nodiscard]] virtual ChannelGroups make_groups(const Dims& shape) const = 0;

 private:
  float epsilon_;
};

class InstanceNormalization final : public GroupedNormalization {
 public:
  using GroupedNormalization::GroupedNormalization;

 protected:
  [[nodiscard]] ChannelGroups make_groups(const Dims& shape) const override {
    return {shape[0], shape[1], 1, element_count(shape, 2, shape.size())};
  }
};

// In version 18 scale and bias have an element for each group, afterwards for each channel.
class GroupNormalization final : public GroupedNormalization {
 public:
  explicit GroupNormalization(const NodeContext& context)
      : GroupedNormalization(context),
        groups_(context.node().get_int("num_groups", 0)),
        by_group_(context.version() < 21) {
    if (groups_ < 1) fail("attribute num_groups=" + std::to_string(groups_) + " is not positive");
  }

 protected:
  [[nodiscard]] ChannelGroups make_groups(const Dims& shape) const override {
    if (shape[1] % groups_ != 0) {
      fail(std::to_string(shape[1]) + " channels do not make " + std::to_string(groups_) +
           " equal groups");
    }
    return {shape[0], groups_, shape[1] / groups_, element_count(shape, 2, shape.size()),
            by_group_};
  }

 private:
  int64_t groups_;
  bool by_group_;
};

// The dimensions of a shape, those that are folded last: a walk over lines to be normalised.
struct Folded {
  Dims kept, kept_strides;
  Dims folded, folded_strides;
};

Folded fold_axes(const Dims& shape, const Dims& axes) {
  std::array<bool, kMaxRank> is_folded = {};
  for (const int64_t axis : axes) is_folded[normalize_axis(axis, shape.size())] = true;
  const Dims strides = dense_strides(shape);
  Folded result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (is_folded[d] ? result.folded : result.kept).push_back(shape[d]);
    (is_folded[d] ? result.folded_strides : result.kept_strides).push_back(strides[d]);
  }
  std::array<Dims, 1> merged = {result.folded_strides};
  merge_dimensions(result.folded, merged);
  result.folded_strides = merged[0];
  return result;
}

// Calls line(each) for each line; each(body) calls body(offset) for the line's elements.
template <class Line>
void for_each_line(const Folded& folded, const Line& line) {
  const int64_t lines = element_count(folded.kept);
  const int64_t extent = element_count(folded.folded);
  parallel_for(lines, 2.0 * static_cast<double>(extent), [&](int64_t begin, int64_t end) {
    Odometer<1> start(folded.kept, {folded.kept_strides});
    start.seek(begin);
    Odometer<1> at(folded.folded, {folded.folded_strides});
    for (int64_t l = begin; l < end; ++l, start.next()) {
      line([&](const auto& body) {
        for (int64_t i = 0; i < extent; ++i, at.next()) body(start.offset(0) + at.offset(0));
      });
    }
  });
}

class MeanVarianceNormalization final : public Kernel {
 public:
  explicit MeanVarianceNormalization(const NodeContext& context)
      : Kernel(context), axes_(context.node().get_ints("axes")) {
    if (context.node().attribute("axes") == nullptr) axes_ = {0, 2, 3};
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Folded folded = fold_axes(shape, axes_);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, shape));
      if (element_count(shape) == 0) return;
      normalize(folded, run.input_data<T>(0), y);
    });
  }

 private:
  // The epsilon of the operator's definition as a function.
  static constexpr double kEpsilon = 1e-9;

  template <class T>
  static void normalize(const Folded& folded, const T* x, T* y) {
    const auto count = static_cast<double>(element_count(folded.folded));
    for_each_line(folded, [=](const auto& each) {
      double sum = 0;
      each([&](int64_t i) { sum += static_cast<double>(x[i]); });
      const double mean = sum / count;
      double squares = 0;
      each([&](int64_t i) {
        const double difference = static_cast<double>(x[i]) - mean;
        squares += difference * difference;
      });
      const double factor = 1 / (std::sqrt(squares / count) + kEpsilon);
      each([&](int64_t i) { y[i] = static_cast<T>((static_cast<double>(x[i]) - mean) * factor); });
    });
  }

  Dims axes_;
};

class LpNormalization final : public Kernel {
 public:
  explicit LpNormalization(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", -1)),
        p_(context.node().get_int("p", 2)) {
    if (p_ != 1 && p_ != 2) fail("attribute p=" + std::to_string(p_) + " is neither 1 nor 2");
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Folded folded = fold_axes(shape, {axis_});
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, shape));
      if (element_count(shape) == 0) return;
      normalize(folded, run.input_data<T>(0), y);
    });
  }

 private:
  // A line of zeros stays zero.
  template <class T>
  void normalize(const Folded& folded, const T* x, T* y) const {
    for_each_line(folded, [=, this](const auto& each) {
      double sum = 0;
      each([&](int64_t i) {
        const auto value = static_cast<double>(x[i]);
        sum += p_ == 1 ? std::fabs(value) : value * value;
      });
      const double norm = p_ == 1 ? sum : std::sqrt(sum);
      const double factor = norm == 0 ? 0 : 1 / norm;
      each([&](int64_t i) { y[i] = static_cast<T>(static_cast<double>(x[i]) * factor); });
    });
  }

  int64_t axis_;
  int64_t p_;
};

constexpr KernelEntry kInstanceNormalizationKernels[] = {
    {"InstanceNormalization", 1, kNewest, kThreeAlike, kThreeFloats, &make<InstanceNormalization>},
    {"GroupNormalization", 18, kNewest, kThreeAlike, kThreeFloats, &make<GroupNormalization>},
    {"MeanVarianceNormalization",
     9,
     kNewest,
     {},
     kInputTypes<kFloat>,
     &make<MeanVarianceNormalization>},
    {"LpNormalization", 1, kNewest, {}, kInputTypes<kFloat>, &make<LpNormalization>},
};

}  // namespace

Table instance_normalization_kernels() { return kInstanceNormalizationKernels; }

}  // namespace ephost_cpu
