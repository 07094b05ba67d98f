// Pow: base and exponent may have different types; the result has the base's.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/kernels/elementwise/old_broadcast.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

struct FloatPower {
  static constexpr double kCost = 20;
  template <class T>
  T operator()(T base, T exponent) const {
    return std::pow(base, exponent);
  }
};

template <class T>
struct Square {
  static constexpr double kCost = 0.25;
  CPU_INLINE T operator()(T x) const { return x * x; }
};

template <class T>
struct Cube {
  static constexpr double kCost = 0.25;
  CPU_INLINE T operator()(T x) const { return x * x * x; }
};

template <class T>
struct Root {
  static constexpr double kCost = 0.5;
  // Roots of zero and infinity are never negative, as with std::pow.
  CPU_INLINE T operator()(T x) const {
    return std::fabs(x) == std::numeric_limits<T>::infinity() ? std::fabs(x) : std::sqrt(x + T{0});
  }
};

// Exact, wrapping around; a negative exponent gives the inverse truncated towards zero.
struct IntegerPower {
  static constexpr double kCost = 5;
  template <class T>
  T operator()(T base, int64_t exponent) const {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? T{1} : T{-1};
      return 0;
    }
    uint64_t result = 1;
    auto factor = static_cast<uint64_t>(base);
    for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) result *= factor;
      factor *= factor;
    }
    return static_cast<T>(result);
  }
};

struct RealPowerOfInteger {
  static constexpr double kCost = 20;
  template <class T>
  T operator()(T base, double exponent) const {
    const double power = std::pow(static_cast<double>(base), exponent);
    T result = 0;
    convert(&power, EPH_ELEMENT_DOUBLE, &result, eph::element_type_of<T>(), 1);
    return result;
  }
};

class Pow final : public Kernel {
 public:
  explicit Pow(const NodeContext& context) : Kernel(context), old_(context) {
    allow_inplace_if_equal(context, 0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& base = *run.input(0);
    const eph_value& exponent = *run.input(1);
    const Dims base_shape = dims_of(base);
    const Dims exponent_shape = old_.align(base_shape, dims_of(exponent));
    const Dims shape = broadcast_shape(base_shape, exponent_shape);
    const eph_value& y = allocate_output(run, 0, base.element_type, shape);
    if (element_count(shape) == 0) return;

    dispatch<float, double, int32_t, int64_t>(base.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<T>) {
        const auto* powers = exponents<T>(run, exponent);
        if (element_count(exponent_shape) == 1 && shape == base_shape &&
            small_power(*powers, data<const T>(base), data<T>(y), element_count(shape))) {
          return;
        }
        broadcast_binary<T, T, T>(FloatPower{}, base.data, base_shape, powers, exponent_shape,
                                  y.data, shape);
      } else if ((kFloat & eph::type_bit(exponent.element_type)) != 0) {
        broadcast_binary<T, double, T>(RealPowerOfInteger{}, base.data, base_shape,
                                       exponents<double>(run, exponent), exponent_shape, y.data,
                                       shape);
      } else {
        integer_power<T>(run, base, base_shape, exponent_shape, y, shape);
      }
    });
  }

 private:
  // The exponents as T: the input itself, or a converted copy.
  template <class T>
  static const T* exponents(eph::Run& run, const eph_value& exponent) {
    constexpr int32_t kType = eph::element_type_of<T>();
    if (exponent.element_type == kType) return data<const T>(exponent);
    const int64_t count = element_count(eph::shape_of(exponent));
    void* copy = run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(T))));
    convert(exponent.data, exponent.element_type, copy, kType, count);
    return static_cast<const T*>(copy);
  }

  // Squares, cubes and roots without std::pow, which gives the same up to rounding.
  template <class T>
  static bool small_power(T exponent, const T* x, T* y, int64_t count) {
    if (exponent == T{0.5}) {
      map_elements<T, T>(Root<T>{}, x, y, count);
    } else if (exponent == T{2}) {
      map_elements<T, T>(Square<T>{}, x, y, count);
    } else if (exponent == T{3}) {
      map_elements<T, T>(Cube<T>{}, x, y, count);
    } else {
      return false;
    }
    return true;
  }

  template <class T>
  static void integer_power(eph::Run& run, const eph_value& base, const Dims& base_shape,
                            const Dims& exponent_shape, const eph_value& y, const Dims& shape) {
    const int64_t* powers = exponents<int64_t>(run, *run.input(1));
    const int64_t bases = element_count(base_shape);
    const int64_t count = element_count(exponent_shape);
    const T* elements = data<const T>(base);
    if (std::find(elements, elements + bases, T{0}) != elements + bases &&
        std::any_of(powers, powers + count, [](int64_t power) { return power < 0; })) {
      fail("zero has no negative power among the integers");
    }
    broadcast_binary<T, int64_t, T>(IntegerPower{}, base.data, base_shape, powers, exponent_shape,
                                    y.data, shape);
  }

  OldBroadcast old_;
};

constexpr KernelEntry kPowKernels[] = {
    {"Pow", 1, 7, kTwoAlike, kTwoFloats, &make<Pow>},
    {"Pow", 12, kNewest, kTwoInputs, kInputTypes<kFloat | kIndices, kNumbers>, &make<Pow>},
};

}  // namespace

Table pow_kernels() { return kPowKernels; }

}  // namespace ephost_cpu
