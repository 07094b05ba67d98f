// Dropout. At inference the output is the input. In training, the elements to keep are drawn from a
// Mersenne Twister that starts from the seed in each run, as numpy's generator does in the
// operator's examples: the same seed gives the same mask each time.
#include <algorithm>
#include <atomic>
#include <random>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

// Uniform in [0, 1) with 53 random bits.
double draw(std::mt19937& engine) {
  const uint32_t high = static_cast<uint32_t>(engine()) >> 5;
  const uint32_t low = static_cast<uint32_t>(engine()) >> 6;
  return (high * 0x1p26 + low) * 0x1p-53;
}

class Dropout final : public Kernel {
 public:
  explicit Dropout(const NodeContext& context)
      : Kernel(context),
        ratio_(context.node().get_float("ratio", 0.5F)),
        trains_(context.version() < 7 && context.node().get_int("is_test", 0) == 0),
        mask_has_input_type_(context.version() < 10) {
    if (context.node().attribute("seed") != nullptr) {
      seed_ = static_cast<uint32_t>(context.node().get_int("seed", 0));
    } else {
      next_seed_ = std::random_device{}();
    }
    if (context.node().output(0) == EPH_NONE) return;
    // Training writes other numbers than it reads, which other readers of the input must not see.
    if (may_train(context)) {
      allow_inplace(0);
    } else {
      allow_alias(0);
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const bool trains = trains_ || flag(run.input(2));
    const double ratio = trains ? read_ratio(run.input(1)) : 0;
    if (ratio < 0 || ratio >= 1) fail("ratio " + std::to_string(ratio) + " is outside of [0, 1)");
    if (ratio == 0) {
      if (run.output(0) != nullptr) copy_reshaped(run, x, 0, shape);
      if (run.output(1) != nullptr) fill_mask(run, x.element_type, shape);
      return;
    }
    dispatch_compute_type(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      const T* from = arguments.input<T>(0);
      T* y = arguments.optional_output<T>(0, x.element_type, shape);
      const int32_t mask_type = mask_has_input_type_ ? x.element_type : EPH_ELEMENT_BOOL;
      T* typed_mask =
          mask_has_input_type_ ? arguments.optional_output<T>(1, mask_type, shape) : nullptr;
      uint8_t* mask = nullptr;
      if (!mask_has_input_type_ && run.output(1) != nullptr) {
        mask = data<uint8_t>(allocate_output(run, 1, EPH_ELEMENT_BOOL, shape));
      }
      drop(element_count(shape), ratio, from, y, [=](int64_t i, bool keeps) {
        if (typed_mask != nullptr) typed_mask[i] = keeps ? T{1} : T{0};
        if (mask != nullptr) mask[i] = keeps ? 1 : 0;
      });
      arguments.finish();
    });
  }

 private:
  template <class T, class Mark>
  void drop(int64_t count, double ratio, const T* x, T* y, const Mark& mark) {
    std::mt19937 engine(seed_ ? *seed_ : next_seed_.fetch_add(1));
    const T scale = static_cast<T>(1 / (1 - ratio));
    for (int64_t i = 0; i < count; ++i) {
      const bool keeps = draw(engine) >= ratio;
      if (y != nullptr) y[i] = keeps ? x[i] * scale : T{0};
      mark(i, keeps);
    }
  }

  [[nodiscard]] bool may_train(const NodeContext& context) const {
    if (trains_ || !context.has_input(2)) return trains_;
    const eph_value* given = context.constant(2);
    return given == nullptr || given->element_type != EPH_ELEMENT_BOOL || flag(given);
  }

  static bool flag(const eph_value* value) {
    if (value == nullptr) return false;
    if (element_count(eph::shape_of(*value)) != 1) fail("training_mode must be a scalar");
    return *data<const uint8_t>(*value) != 0;
  }

  [[nodiscard]] double read_ratio(const eph_value* value) const {
    if (value == nullptr) return static_cast<double>(ratio_);
    if (element_count(eph::shape_of(*value)) != 1) fail("ratio must be a scalar");
    double ratio = 0;
    convert(value->data, value->element_type, &ratio, EPH_ELEMENT_DOUBLE, 1);
    return ratio;
  }

  void fill_mask(eph::Run& run, int32_t input_type, const Dims& shape) const {
    const int64_t count = element_count(shape);
    if (!mask_has_input_type_) {
      std::fill_n(data<uint8_t>(allocate_output(run, 1, EPH_ELEMENT_BOOL, shape)), count,
                  uint8_t{1});
      return;
    }
    dispatch_compute_type(input_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      std::fill_n(arguments.output<T>(1, input_type, shape), count, T{1});
      arguments.finish();
    });
  }

  float ratio_;
  bool trains_;
  bool mask_has_input_type_;
  std::optional<uint32_t> seed_;
  std::atomic<uint32_t> next_seed_ = 0;
};

constexpr auto& kDropoutTypes = kInputTypes<kFloat, kFloat, kBool>;

constexpr KernelEntry kDropoutKernels[] = {
    {"Dropout", 1, 11, {}, kInputTypes<kFloat>, &make<Dropout>},
    {"Dropout", 12, kNewest, {}, kDropoutTypes, &make<Dropout>},
};

}  // namespace

Table dropout_kernels() { return kDropoutKernels; }

}  // namespace ephost_cpu
