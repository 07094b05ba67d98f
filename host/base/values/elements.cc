#include "host/base/values/elements.h"

#include <ephost/float16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {
namespace {

// What the largest exponent and the negative zero of a small float stand for.
enum class Specials { kIeee, kOnlyNan, kUnsignedZero, kNone };

struct FloatLayout {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::kIeee;
};

FloatLayout layout_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat8E5M2:
      return {5, 2, 15, Specials::kIeee};
    case ElementType::kFloat8E5M2FNUZ:
      return {5, 2, 16, Specials::kUnsignedZero};
    case ElementType::kFloat8E4M3FN:
      return {4, 3, 7, Specials::kOnlyNan};
    case ElementType::kFloat8E4M3FNUZ:
      return {4, 3, 8, Specials::kUnsignedZero};
    default:
      return {2, 1, 1, Specials::kNone};  // float4e2m1
  }
}

double decode(uint32_t bits, const FloatLayout& layout) {
  const uint32_t exponent_mask = (1U << layout.exponent_bits) - 1;
  const uint32_t mantissa_mask = (1U << layout.mantissa_bits) - 1;
  const uint32_t sign = bits >> (layout.exponent_bits + layout.mantissa_bits) & 1;
  const uint32_t exponent = bits >> layout.mantissa_bits & exponent_mask;
  const uint32_t mantissa = bits & mantissa_mask;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (layout.specials == Specials::kIeee && exponent == exponent_mask) {
    if (mantissa != 0) return kNan;
    return sign != 0 ? -HUGE_VAL : HUGE_VAL;
  }
  if (layout.specials == Specials::kOnlyNan && exponent == exponent_mask &&
      mantissa == mantissa_mask) {
    return kNan;
  }
  if (layout.specials == Specials::kUnsignedZero && sign != 0 && exponent == 0 && mantissa == 0) {
    return kNan;
  }
  const uint32_t significand = exponent == 0 ? mantissa : mantissa | (mantissa_mask + 1);
  const int scale = std::max<int>(static_cast<int>(exponent), 1) - layout.bias;
  const double magnitude = std::ldexp(significand, scale - layout.mantissa_bits);
  return sign != 0 ? -magnitude : magnitude;
}

// float8e8m0: a power of two.
double decode_power(uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

bool is_complex(ElementType type) {
  return type == ElementType::kComplex64 || type == ElementType::kComplex128;
}

}  // namespace

bool is_inexact(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kDouble:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
    case ElementType::kFloat4E2M1:
    case ElementType::kFloat8E8M0:
    case ElementType::kComplex64:
    case ElementType::kComplex128:
      return true;
    default:
      return false;
  }
}

TensorElements::TensorElements(ValueView tensor)
    : tensor_(std::move(tensor)), count_(tensor_.count * (is_complex(tensor_.type) ? 2 : 1)) {}

template <class T>
T TensorElements::load(uint64_t index) const {
  T element;
  std::memcpy(&element, tensor_.bytes.data() + index * sizeof(T), sizeof(T));
  return element;
}

uint32_t TensorElements::packed(uint64_t index) const {
  const uint32_t bits = tensor_.bits;
  const uint32_t per_byte = 8 / bits;
  const uint32_t byte = load<uint8_t>(index / per_byte);
  return byte >> index % per_byte * bits & ((1U << bits) - 1);
}

double TensorElements::number(uint64_t index) const {
  switch (tensor_.type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return load<float>(index);
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return load<double>(index);
    case ElementType::kInt8:
      return load<int8_t>(index);
    case ElementType::kInt16:
      return load<int16_t>(index);
    case ElementType::kInt32:
      return load<int32_t>(index);
    case ElementType::kInt64:
      return static_cast<double>(load<int64_t>(index));
    case ElementType::kUint8:
    case ElementType::kBool:
      return load<uint8_t>(index);
    case ElementType::kUint16:
      return load<uint16_t>(index);
    case ElementType::kUint32:
      return load<uint32_t>(index);
    case ElementType::kUint64:
      return static_cast<double>(load<uint64_t>(index));
    case ElementType::kUint4:
    case ElementType::kUint2:
      return packed(index);
    case ElementType::kInt4:
      return static_cast<int>(packed(index) ^ 8U) - 8;
    case ElementType::kInt2:
      return static_cast<int>(packed(index) ^ 2U) - 2;
    case ElementType::kFloat4E2M1:
      return decode(packed(index), layout_of(tensor_.type));
    case ElementType::kFloat8E8M0:
      return decode_power(load<uint8_t>(index));
    case ElementType::kFloat16:
      return load<Float16>(index).to_float();
    case ElementType::kBfloat16:
      return load<BFloat16>(index).to_float();
    case ElementType::kFloat8E4M3FN:
    case ElementType::kFloat8E4M3FNUZ:
    case ElementType::kFloat8E5M2:
    case ElementType::kFloat8E5M2FNUZ:
      return decode(load<uint8_t>(index), layout_of(tensor_.type));
    case ElementType::kUndefined:
    case ElementType::kString:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string TensorElements::text(uint64_t index) const {
  switch (tensor_.type) {
    case ElementType::kString:
      return quote(tensor_.strings[index]);
    case ElementType::kBool:
      return load<uint8_t>(index) != 0 ? "true" : "false";
    case ElementType::kInt64:
      return std::to_string(load<int64_t>(index));
    case ElementType::kUint64:
      return std::to_string(load<uint64_t>(index));
    default:
      return formatted("{:.{}g}", number(index), is_inexact(tensor_.type) ? 7 : 17);
  }
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t extent : shape) {
    if (text.size() > 1) text += ",";
    text += extent < 0 ? "?" : std::to_string(extent);
  }
  return text + "]";
}

std::string type_text(const ValueView& value) {
  switch (value.kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kSequence: {
      const bool of_maps = !value.parts.empty() && value.parts[0].kind == ValueKind::kMap;
      return formatted("seq({}) of {}", of_maps ? "map" : value.type_name, value.parts.size());
    }
    case ValueKind::kMap:
      return formatted("map({}) of {}", value.type_name, value.parts[0].count);
    case ValueKind::kSparseTensor:
      return formatted("sparse {}{}", value.type_name, shape_text(value.shape));
    case ValueKind::kTensor:
      break;
  }
  return std::string(value.type_name) + shape_text(value.shape);
}

std::string position_text(std::span<const int64_t> shape, uint64_t index) {
  std::vector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<uint64_t>(shape[axis]);
    position[axis] = static_cast<int64_t>(index % extent);
    index /= extent;
  }
  return shape_text(position);
}

}  // namespace ephost
