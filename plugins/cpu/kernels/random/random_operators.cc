// RandomUniform, RandomNormal, their Like forms, Multinomial and Bernoulli.
#include <algorithm>
#include <array>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/random/random.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kDrawBlock = 256;

// The attribute dtype, which must be in the set; EPH_ELEMENT_UNDEFINED if it is omitted.
int32_t read_dtype(const NodeContext& context, uint64_t types) {
  const int64_t type = context.node().get_int("dtype", 0);
  if (type < 0 || type > 63 || (type != 0 && (types >> type & 1) == 0)) {
    fail_unsupported("attribute dtype=" + std::to_string(type) +
                     " is not a supported element type");
  }
  return static_cast<int32_t>(type);
}

// y[i] = draw(i), a double, converted.
template <class Draw>
void fill_with_draws(const eph_value& y, const Draw& draw) {
  const int64_t count = element_count(eph::shape_of(y));
  const int64_t size = element_size(y.element_type);
  parallel_for(count, 10, [&](int64_t begin, int64_t end) {
    std::array<double, kDrawBlock> block;
    for (int64_t at = begin; at < end; at += kDrawBlock) {
      const int64_t length = std::min(kDrawBlock, end - at);
      for (int64_t i = 0; i < length; ++i) block[static_cast<std::size_t>(i)] = draw(at + i);
      convert(block.data(), EPH_ELEMENT_DOUBLE, data<char>(y) + at * size, y.element_type, length);
    }
  });
}

// With `kLike`, the shape is the input's, and so is the element type without dtype.
template <bool kNormal, bool kLike>
class Random final : public Kernel {
 public:
  explicit Random(const NodeContext& context)
      : Kernel(context),
        source_(context),
        offset_(context.node().get_float(kNormal ? "mean" : "low", 0)),
        scale_(context.node().get_float(kNormal ? "scale" : "high", 1)),
        type_(read_dtype(context, kAllFloats)),
        shape_(context.node().get_ints("shape")) {
    if (!kNormal) scale_ -= offset_;
    if (!kLike && context.node().attribute("shape") == nullptr) fail("attribute shape is missing");
    for (const int64_t extent : shape_) {
      if (extent < 0) fail("attribute shape=" + to_string(shape_) + " has a negative extent");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    int32_t type = type_;
    if (type == EPH_ELEMENT_UNDEFINED) {
      type = kLike ? run.input(0)->element_type : int32_t{EPH_ELEMENT_FLOAT};
    }
    if ((kAllFloats & eph::type_bit(type)) == 0) {
      fail("there are no random numbers of type " + type_name(type) + "; set attribute dtype");
    }
    const Dims shape = kLike ? dims_of(*run.input(0)) : shape_;
    const eph_value& y = allocate_output(run, 0, type, shape);
    const RandomStream stream = source_.next();
    fill_with_draws(y, [&, offset = static_cast<double>(offset_),
                        scale = static_cast<double>(scale_)](int64_t i) {
      const auto index = static_cast<uint64_t>(i);
      return offset + scale * (kNormal ? stream.normal(index) : stream.uniform(index));
    });
  }

 private:
  RandomSource source_;
  float offset_, scale_;
  int32_t type_;
  Dims shape_;
};

// 1 with the probability that the input gives, else 0.
class Bernoulli final : public Kernel {
 public:
  explicit Bernoulli(const NodeContext& context)
      : Kernel(context), source_(context), type_(read_dtype(context, kNumbers | kBool | kHalf)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const int32_t type = type_ == EPH_ELEMENT_UNDEFINED ? x.element_type : type_;
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, type, shape);
    const RandomStream stream = source_.next();
    dispatch<float, double>(x.element_type, [&](auto tag) {
      const auto* probabilities = data<const typename decltype(tag)::type>(x);
      fill_with_draws(y, [&](int64_t i) {
        const bool hit =
            stream.uniform(static_cast<uint64_t>(i)) < static_cast<double>(probabilities[i]);
        return hit ? 1.0 : 0.0;
      });
    });
  }

 private:
  RandomSource source_;
  int32_t type_;
};

// Draws classes by their probabilities, which are given as logarithms up to a common term.
class Multinomial final : public Kernel {
 public:
  explicit Multinomial(const NodeContext& context)
      : Kernel(context),
        source_(context),
        samples_(context.node().get_int("sample_size", 1)),
        type_(read_dtype(context, kIndices)) {
    if (samples_ < 0) fail("attribute sample_size=" + std::to_string(samples_) + " is negative");
    if (type_ == EPH_ELEMENT_UNDEFINED) type_ = EPH_ELEMENT_INT32;
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() != 2) fail("input " + to_string(shape) + " is not [batch, classes]");
    const Dims drawn = {shape[0], samples_};
    const eph_value& y = allocate_output(run, 0, type_, drawn);
    if (element_count(eph::shape_of(y)) == 0) return;
    if (shape[1] == 0) fail("there are no classes to draw from");
    const int64_t bytes = checked_multiply(shape[1], sizeof(double));
    auto* sums = static_cast<double*>(run.scratch(static_cast<uint64_t>(bytes)));
    const RandomStream stream = source_.next();
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t row = 0; row < shape[0]; ++row) {
        add_up(data<const T>(x) + row * shape[1], shape[1], sums);
        draw(stream, row, sums, shape[1], y);
      }
    });
  }

 private:
  // sums[i]: the probabilities of classes 0 to i, times a common factor.
  template <class T>
  static void add_up(const T* x, int64_t classes, double* sums) {
    const auto top = static_cast<double>(*std::max_element(x, x + classes));
    double sum = 0;
    for (int64_t i = 0; i < classes; ++i) {
      const double weight = std::exp(static_cast<double>(x[i]) - top);
      if (weight > 0) sum += weight;  // false for NaN
      sums[i] = sum;
    }
  }

  void draw(const RandomStream& stream, int64_t row, const double* sums, int64_t classes,
            const eph_value& y) const {
    for (int64_t s = 0; s < samples_; ++s) {
      const int64_t at = row * samples_ + s;
      const double target = stream.uniform(static_cast<uint64_t>(at)) * sums[classes - 1];
      const int64_t drawn = std::upper_bound(sums, sums + classes, target) - sums;
      const int64_t index = std::min(drawn, classes - 1);
      if (type_ == EPH_ELEMENT_INT32) {
        data<int32_t>(y)[at] = static_cast<int32_t>(index);
      } else {
        data<int64_t>(y)[at] = index;
      }
    }
  }

  RandomSource source_;
  int64_t samples_;
  int32_t type_;
};

constexpr KernelEntry kRandomKernels[] = {
    {"RandomUniform", 1, kNewest, kNoInputs, {}, &make<Random<false, false>>},
    {"RandomNormal", 1, kNewest, kNoInputs, {}, &make<Random<true, false>>},
    {"RandomUniformLike", 1, kNewest, {}, kInputTypes<kAny>, &make<Random<false, true>>},
    {"RandomNormalLike", 1, kNewest, {}, kInputTypes<kAny>, &make<Random<true, true>>},
    {"Bernoulli", 15, kNewest, {}, kInputTypes<kFloat>, &make<Bernoulli>},
    {"Multinomial", 7, kNewest, {}, kInputTypes<kFloat>, &make<Multinomial>},
};

}  // namespace

Table random_kernels() { return kRandomKernels; }

}  // namespace ephost_cpu
