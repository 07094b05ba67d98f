#include "plugins/cpu/convert.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "plugins/cpu/parallel.h"
#include "plugins/cpu/types.h"

namespace cpu {
namespace {

// Types that C++ has no type for, as their bytes.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Rounding double to float to a shorter type would round twice. Rounding to odd first makes it
// exact.
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(nearest) || static_cast<double>(nearest) == value) {
    return nearest;
  }
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

template <class T>
auto widen(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(value.bits);
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return bfloat_to_float(value.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<int32_t>(value.byte != 0);
  } else {
    return value;
  }
}

template <class To, class From>
To saturate(From value) {
  // Exact bounds: 2^digits is a floating-point number, the largest integer need not be.
  const From bound = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (!(value < bound)) return std::isnan(value) ? To{0} : std::numeric_limits<To>::max();
  if (std::is_signed_v<To> ? value < -bound : value <= -1) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

// `value` is a C++ number.
template <class To, class From>
To narrow(From value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, Bfloat>) {
    float rounded = 0;
    if constexpr (std::is_same_v<From, double>) {
      rounded = round_to_odd(value);
    } else {
      rounded = static_cast<float>(value);
    }
    return To{std::is_same_v<To, Half> ? float_to_half(rounded) : float_to_bfloat(rounded)};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// Calls f(Tag<T>{}) with the type that stands for an element type.
template <class F>
void dispatch_convertible(int32_t type, F&& f) {
  switch (type) {
    case EPH_BOOL:
      return f(Tag<Bool>{});
    case EPH_FLOAT16:
      return f(Tag<Half>{});
    case EPH_BFLOAT16:
      return f(Tag<Bfloat>{});
    default:
      dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t>(type, f);
  }
}

using Loop = void (*)(const void* from, void* to, int64_t count);

template <class From, class To>
void convert_range(const void* from, void* to, int64_t count) {
  const auto* source = static_cast<const From*>(from);
  auto* target = static_cast<To*>(to);
  for (int64_t i = 0; i < count; ++i) target[i] = narrow<To>(widen(source[i]));
}

Loop find_loop(int32_t from_type, int32_t to_type) {
  Loop loop = nullptr;
  dispatch_convertible(from_type, [&](auto from_tag) {
    dispatch_convertible(to_type, [&](auto to_tag) {
      loop = &convert_range<typename decltype(from_tag)::type, typename decltype(to_tag)::type>;
    });
  });
  return loop;
}

}  // namespace

float half_to_float(uint16_t bits) {
  // The exponent moves from bias 15 to bias 127 by a multiplication, which also normalises
  // subnormal numbers; infinity and NaN keep their exponent of ones.
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t shifted = uint32_t{bits & 0x7fffU} << 13;
  if (shifted >= 0x0f800000) return std::bit_cast<float>(sign | shifted | 0x70000000U);
  const float magnitude = std::bit_cast<float>(shifted) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and more round to infinity
  if (magnitude < 0x38800000) {                       // below 2^-14: subnormal in steps of 2^-24
    const float steps = std::fabs(value) * 0x1p24F;
    return sign | static_cast<uint16_t>(std::nearbyint(steps));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

void convert(const void* from, int32_t from_type, void* to, int32_t to_type, int64_t count) {
  const Loop loop = find_loop(from_type, to_type);
  const int64_t from_size = element_size(from_type);
  const int64_t to_size = element_size(to_type);
  parallel_for(count, 0.5, [&](int64_t begin, int64_t end) {
    loop(static_cast<const char*>(from) + begin * from_size,
         static_cast<char*>(to) + begin * to_size, end - begin);
  });
}

}  // namespace cpu
