// Element types: sets for the type rules of kernels, sizes, and the dispatch from the ABI's number
// to a C++ type. A bool is handled as a byte, so that foreign bytes do not cause undefined
// behaviour.
#pragma once

#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

template <int32_t... types>
inline constexpr uint64_t kTypeSet = ((uint64_t{1} << types) | ... | 0);

inline constexpr uint64_t kOnlyFloat = kTypeSet<EPH_ELEMENT_FLOAT>;
inline constexpr uint64_t kFloat = kTypeSet<EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE>;
inline constexpr uint64_t kBytes = kTypeSet<EPH_ELEMENT_INT8, EPH_ELEMENT_UINT8>;
inline constexpr uint64_t kWideInts =
    kTypeSet<EPH_ELEMENT_INT32, EPH_ELEMENT_INT64, EPH_ELEMENT_UINT32, EPH_ELEMENT_UINT64>;
inline constexpr uint64_t kSignedInts =
    kTypeSet<EPH_ELEMENT_INT8, EPH_ELEMENT_INT16, EPH_ELEMENT_INT32, EPH_ELEMENT_INT64>;
inline constexpr uint64_t kInts =
    kSignedInts |
    kTypeSet<EPH_ELEMENT_UINT8, EPH_ELEMENT_UINT16, EPH_ELEMENT_UINT32, EPH_ELEMENT_UINT64>;
inline constexpr uint64_t kNumbers = kFloat | kInts;
inline constexpr uint64_t kWideNumbers = kFloat | kWideInts;
inline constexpr uint64_t kBool = kTypeSet<EPH_ELEMENT_BOOL>;
inline constexpr uint64_t kHalf = kTypeSet<EPH_ELEMENT_FLOAT16, EPH_ELEMENT_BFLOAT16>;
inline constexpr uint64_t kUpToFloat = kOnlyFloat | kHalf;
inline constexpr uint64_t kAllFloats = kFloat | kHalf;
inline constexpr uint64_t kFloat8 = kTypeSet<EPH_ELEMENT_FLOAT8E4M3FN, EPH_ELEMENT_FLOAT8E4M3FNUZ,
                                             EPH_ELEMENT_FLOAT8E5M2, EPH_ELEMENT_FLOAT8E5M2FNUZ>;
// Powers of two without a sign.
inline constexpr uint64_t kPowers = kTypeSet<EPH_ELEMENT_FLOAT8E8M0>;
// Types with elements of less than a byte, the first one of each byte in its lowest bits.
inline constexpr uint64_t kTwoBits = kTypeSet<EPH_ELEMENT_UINT2, EPH_ELEMENT_INT2>;
inline constexpr uint64_t kPacked =
    kTwoBits | kTypeSet<EPH_ELEMENT_UINT4, EPH_ELEMENT_INT4, EPH_ELEMENT_FLOAT4E2M1>;
inline constexpr uint64_t kString = kTypeSet<EPH_ELEMENT_STRING>;
inline constexpr uint64_t kInt32 = kTypeSet<EPH_ELEMENT_INT32>;
inline constexpr uint64_t kInt64 = kTypeSet<EPH_ELEMENT_INT64>;
inline constexpr uint64_t kIndices = kTypeSet<EPH_ELEMENT_INT32, EPH_ELEMENT_INT64>;
// Types whose elements can be moved as bytes, and those types with strings.
inline constexpr uint64_t kFixedSize = kNumbers | kBool | kHalf | kFloat8 | kPowers |
                                       kTypeSet<EPH_ELEMENT_COMPLEX64, EPH_ELEMENT_COMPLEX128>;
inline constexpr uint64_t kAny = kFixedSize | kString;
inline constexpr uint64_t kAnyWidth = kAny | kPacked;

// Size in bytes of an element of a type in kFixedSize, sizeof(eph_string) for strings. Throws for
// others.
[[nodiscard]] int64_t element_size(int32_t element_type);

// Size in bytes of `count` elements, which may be packed. Throws like element_size.
[[nodiscard]] int64_t storage_size(int32_t element_type, int64_t count);

[[nodiscard]] bool is_packed(int32_t element_type);
// Bits of an element of a type in kPacked: 4 or 2.
[[nodiscard]] int packed_bits(int32_t element_type);
// The type with the same numbers in whole bytes, for a packed type of integers.
[[nodiscard]] int32_t unpacked_type(int32_t element_type);

// e.g. "float16"; "type 99" for a number that ONNX doesn't know.
[[nodiscard]] std::string type_name(int32_t element_type);

// The C++ type that a kernel computes with; a tag without a value.
template <class T>
struct Tag {
  using type = T;
};

// Calls f(Tag<T>{}) for the T of Ts with that element type; throws if there is none.
template <class... Ts, class F>
void dispatch(int32_t element_type, F&& f) {
  const bool found =
      ((element_type == eph::element_type_of<Ts>() ? (f(Tag<Ts>{}), true) : false) || ...);
  if (!found) fail_unsupported("element type " + type_name(element_type) + " is not supported");
}

// Calls f(Tag<T>{}) with an unsigned type of that many bytes (1, 2, 4, 8), or a pair of them (16).
struct Bytes16 {
  uint64_t low, high;
};
template <class F>
void dispatch_size(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(Tag<uint8_t>{});
    case 2:
      return f(Tag<uint16_t>{});
    case 4:
      return f(Tag<uint32_t>{});
    case 8:
      return f(Tag<uint64_t>{});
    case 16:
      return f(Tag<Bytes16>{});
    default:
      fail_unsupported("elements of " + std::to_string(bytes) + " bytes are not supported");
  }
}

}  // namespace ephost_cpu
