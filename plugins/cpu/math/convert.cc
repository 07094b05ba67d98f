#include "plugins/cpu/math/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/types.h"
#include "plugins/cpu/math/short_float.h"

namespace ephost_cpu {
namespace {

// Element types that C++ lacks, as their bits.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

CPU_INLINE float widen_bfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

CPU_INLINE uint16_t narrow_to_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>((value != value ? bits | 0x400000 : rounded) >> 16);
}

CPU_INLINE float widen_half(uint16_t bits) {
  // The exponent moves from bias 15 to bias 127 by a multiplication, which also normalises
  // subnormal numbers; infinity and NaN keep their exponent of ones.
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t shifted = uint32_t{bits & 0x7fffU} << 13;
  const float magnitude = std::bit_cast<float>(shifted) * 0x1p112F;
  const uint32_t finite = std::bit_cast<uint32_t>(magnitude);
  return std::bit_cast<float>(sign | (shifted >= 0x0f800000 ? shifted | 0x70000000U : finite));
}

CPU_INLINE uint16_t narrow_to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
  // Below 2^-14 numbers are multiples of 2^-24, which is the value of the sum's last bit.
  const float in_steps = std::bit_cast<float>(magnitude) + 0.5F;
  const uint32_t subnormal = std::bit_cast<uint32_t>(in_steps) - std::bit_cast<uint32_t>(0.5F);
  uint32_t rounded = magnitude < 0x38800000 ? subnormal : normal;
  rounded = magnitude >= 0x477ff000 ? 0x7c00 : rounded;  // 65520 and more round to infinity
  rounded = magnitude > 0x7f800000 ? 0x7e00 : rounded;   // NaN
  return static_cast<uint16_t>(sign | rounded);
}

CPU_SIMD void halves_to_floats(const uint16_t* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = widen_half(from[i]);
}
CPU_SIMD void floats_to_halves(const float* from, uint16_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = narrow_to_half(from[i]);
}
CPU_SIMD void bfloats_to_floats(const uint16_t* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = widen_bfloat(from[i]);
}
CPU_SIMD void floats_to_bfloats(const float* from, uint16_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = narrow_to_bfloat(from[i]);
}

// As saturate, without branches. `largest` is the largest float below the bound.
template <class To>
CPU_INLINE To clamp_float(float x, float largest) {
  constexpr auto kLowest = static_cast<float>(std::numeric_limits<To>::min());
  const float raised = x > kLowest ? x : kLowest;
  const auto inside = static_cast<To>(raised < largest ? raised : largest);
  const To upper = x > largest ? std::numeric_limits<To>::max() : inside;
  return x == x ? upper : To{0};
}

CPU_SIMD void floats_to_int32(const float* from, int32_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = clamp_float<int32_t>(from[i], 2147483520.0F);
}
CPU_SIMD void floats_to_int64(const float* from, int64_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = clamp_float<int64_t>(from[i], 9223371487098961920.0F);
}

// Rounding double to float to a shorter type would round twice. Rounding to odd first keeps the
// result exact.
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
    return widen_half(value.bits);
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return widen_bfloat(value.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<int32_t>(value.byte != 0);
  } else {
    return value;
  }
}

// `value` is a C++ number.
template <class To, class From>
To narrow(From value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, Bfloat>) {
    float rounded = 0;
    if constexpr (std::is_same_v<From, double> || (std::is_integral_v<From> && sizeof(From) > 2)) {
      rounded = round_to_odd(static_cast<double>(value));
    } else {
      rounded = static_cast<float>(value);
    }
    return To{std::is_same_v<To, Half> ? narrow_to_half(rounded) : narrow_to_bfloat(rounded)};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// Calls f(Tag<T>{}) with the C++ type for an element type.
template <class F>
void dispatch_convertible(int32_t type, F&& f) {
  switch (type) {
    case EPH_ELEMENT_BOOL:
      return f(Tag<Bool>{});
    case EPH_ELEMENT_FLOAT16:
      return f(Tag<Half>{});
    case EPH_ELEMENT_BFLOAT16:
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
  if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
    halves_to_floats(&source->bits, target, count);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) {
    floats_to_halves(source, &target->bits, count);
  } else if constexpr (std::is_same_v<From, Bfloat> && std::is_same_v<To, float>) {
    bfloats_to_floats(&source->bits, target, count);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Bfloat>) {
    floats_to_bfloats(source, &target->bits, count);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int32_t>) {
    floats_to_int32(source, target, count);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int64_t>) {
    floats_to_int64(source, target, count);
  } else {
    for (int64_t i = 0; i < count; ++i) target[i] = narrow<To>(widen(source[i]));
  }
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

bool is_rare(int32_t type) { return is_short_float(type) || is_packed(type); }
bool is_floating(int32_t type) { return (kAllFloats & eph::type_bit(type)) != 0; }

template <class F>
void dispatch_packed_bits(int32_t packed_type, const F& f) {
  if (packed_bits(packed_type) == 4) return f(std::integral_constant<int, 4>{});
  f(std::integral_constant<int, 2>{});
}

template <int kBits>
void unpack(const uint8_t* packed, bool is_signed, uint8_t* bytes, int64_t count) {
  constexpr int kPerByte = 8 / kBits;
  constexpr int kNumbers = 1 << kBits;
  for (int64_t i = 0; i < count; ++i) {
    const int code = packed[i / kPerByte] >> (i % kPerByte * kBits) & (kNumbers - 1);
    bytes[i] = static_cast<uint8_t>(is_signed && code >= kNumbers / 2 ? code - kNumbers : code);
  }
}

template <int kBits>
void pack(const uint8_t* bytes, uint8_t* packed, int64_t count) {
  constexpr int kPerByte = 8 / kBits;
  constexpr int kMask = (1 << kBits) - 1;
  const auto join = [&](int64_t first, int64_t length) {
    int byte = 0;
    for (int64_t j = 0; j < length; ++j) byte |= (bytes[first + j] & kMask) << (j * kBits);
    return static_cast<uint8_t>(byte);
  };
  const int64_t rest = count % kPerByte;
  for (int64_t i = 0; i < count / kPerByte; ++i) packed[i] = join(i * kPerByte, kPerByte);
  if (rest != 0) packed[count / kPerByte] = join(count - rest, rest);
}

// Elements of common types on the way from or to a rare one.
constexpr int64_t kConvertBlock = 512;  // a multiple of 4, so that blocks share no byte
union ConvertBlock {
  std::array<double, kConvertBlock> doubles;
  std::array<float, kConvertBlock> floats;
  std::array<uint8_t, kConvertBlock> bytes;
};
struct Elements {
  const void* data;
  int32_t type;
};

void convert_usual(Elements from, void* to, int32_t to_type, int64_t count) {
  find_loop(from.type, to_type)(from.data, to, count);
}

// The elements from `begin` on, in a common type; they are in `block` if they had a rare one.
Elements decode_block(Elements from, int64_t begin, int64_t count, ConvertBlock& block) {
  const char* first = static_cast<const char*>(from.data) + storage_size(from.type, begin);
  if (!is_rare(from.type)) return {first, from.type};
  const auto* codes = reinterpret_cast<const uint8_t*>(first);
  std::array<uint8_t, kConvertBlock> unpacked;
  if (is_packed(from.type)) {
    unpack_elements(from.type, codes, unpacked.data(), count);
    codes = unpacked.data();
  }
  if (is_short_float(from.type)) {
    decode_short_floats(from.type, codes, block.floats.data(), count);
    return {block.floats.data(), EPH_ELEMENT_FLOAT};
  }
  std::copy_n(codes, count, block.bytes.begin());
  return {block.bytes.data(), unpacked_type(from.type)};
}

// One byte for each element of a short floating-point type. Wide numbers go through double, which
// is precise enough.
void encode_floats(Elements from, int32_t to_type, uint8_t* codes, int64_t count,
                   Narrowing narrowing) {
  ConvertBlock block;
  if (element_size(from.type) >= 4 && from.type != EPH_ELEMENT_FLOAT) {
    convert_usual(from, block.doubles.data(), EPH_ELEMENT_DOUBLE, count);
    return encode_short_floats(to_type, block.doubles.data(), codes, count, narrowing);
  }
  const auto* floats = static_cast<const float*>(from.data);
  if (from.type != EPH_ELEMENT_FLOAT) {
    convert_usual(from, block.floats.data(), EPH_ELEMENT_FLOAT, count);
    floats = block.floats.data();
  }
  encode_short_floats(to_type, floats, codes, count, narrowing);
}

// One byte for each element of a packed type of integers, in its lowest bits. Integers wrap;
// floating-point numbers are rounded to even, as ONNX requires for these types only (its technical
// notes "4 bit integer types" and "2 bit integer types"), and wrap or saturate.
void encode_integers(Elements from, int32_t to_type, uint8_t* codes, int64_t count, bool wraps) {
  const int32_t storage = unpacked_type(to_type);
  if (!is_floating(from.type)) return convert_usual(from, codes, storage, count);
  const int numbers = 1 << packed_bits(to_type);
  const int low = storage == EPH_ELEMENT_INT8 ? -numbers / 2 : 0;
  ConvertBlock block;
  convert_usual(from, block.doubles.data(), EPH_ELEMENT_DOUBLE, count);
  for (int64_t i = 0; i < count; ++i) {
    const auto rounded = saturate<int64_t>(std::nearbyint(block.doubles[i]));
    codes[i] = static_cast<uint8_t>(wraps ? rounded
                                          : std::clamp<int64_t>(rounded, low, low + numbers - 1));
  }
}

void convert_block(Elements from, char* to, int32_t to_type, int64_t count, Narrowing narrowing) {
  if (!is_rare(to_type)) return convert_usual(from, to, to_type, count);
  std::array<uint8_t, kConvertBlock> codes;
  if (is_short_float(to_type)) {
    encode_floats(from, to_type, codes.data(), count, narrowing);
  } else {
    encode_integers(from, to_type, codes.data(), count, narrowing.wraps);
  }
  auto* bytes = reinterpret_cast<uint8_t*>(to);
  if (is_packed(to_type)) return pack_elements(to_type, codes.data(), bytes, count);
  std::copy_n(codes.begin(), count, bytes);
}

void convert_rare(Elements from, char* to, int32_t to_type, int64_t count, Narrowing narrowing) {
  const int64_t blocks = count / kConvertBlock + (count % kConvertBlock != 0 ? 1 : 0);
  parallel_for(blocks, 5.0 * kConvertBlock, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * kConvertBlock;
      const int64_t length = std::min(kConvertBlock, count - first);
      ConvertBlock block;
      convert_block(decode_block(from, first, length, block), to + storage_size(to_type, first),
                    to_type, length, narrowing);
    }
  });
}

}  // namespace

float half_to_float(uint16_t bits) { return widen_half(bits); }
uint16_t float_to_half(float value) { return narrow_to_half(value); }

void unpack_elements(int32_t element_type, const uint8_t* packed, uint8_t* bytes, int64_t count) {
  const bool is_signed = unpacked_type(element_type) == EPH_ELEMENT_INT8;
  dispatch_packed_bits(element_type,
                       [&](auto bits) { unpack<bits>(packed, is_signed, bytes, count); });
}

void pack_elements(int32_t element_type, const uint8_t* bytes, uint8_t* packed, int64_t count) {
  dispatch_packed_bits(element_type, [&](auto bits) { pack<bits>(bytes, packed, count); });
}

uint8_t repeat_element(int32_t element_type, uint8_t byte) {
  const int mask = (1 << packed_bits(element_type)) - 1;
  return static_cast<uint8_t>((byte & mask) * (0xff / mask));
}

void convert(const void* from, int32_t from_type, void* to, int32_t to_type, int64_t count,
             Narrowing narrowing) {
  if (is_rare(from_type) || is_rare(to_type)) {
    // These throw here, and not in a thread.
    if (!is_rare(from_type)) (void)find_loop(from_type, EPH_ELEMENT_FLOAT);
    if (!is_rare(to_type)) (void)find_loop(EPH_ELEMENT_FLOAT, to_type);
    return convert_rare({from, from_type}, static_cast<char*>(to), to_type, count, narrowing);
  }
  const Loop loop = find_loop(from_type, to_type);
  const int64_t from_size = element_size(from_type);
  const int64_t to_size = element_size(to_type);
  parallel_for(count, 0.5, [&](int64_t begin, int64_t end) {
    loop(static_cast<const char*>(from) + begin * from_size,
         static_cast<char*>(to) + begin * to_size, end - begin);
  });
}

}  // namespace ephost_cpu
