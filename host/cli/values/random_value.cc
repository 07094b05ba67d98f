#include <ephost/element_info.h>

#include <cstring>

#include "host/base/format.h"
#include "host/cli/values/inputs.h"

namespace ephost::cli {
namespace {

// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
// OOPSLA 2014): the standard library's distributions differ between implementations.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  // In [-1, 1), a multiple of 2^-23.
  double uniform() { return static_cast<double>(next() >> 40U) * 0x1p-23 - 1.0; }

 private:
  uint64_t state_;
};

template <class T, class Make>
void fill(Value& value, Make make) {
  std::byte* out = value.mutable_bytes().data();
  for (uint64_t i = 0; i < value.element_count(); ++i) {
    const auto element = static_cast<T>(make());
    std::memcpy(out + i * sizeof(T), &element, sizeof(T));
  }
}

// The upper half of a float, as bfloat16 has it.
uint16_t bfloat16_bits(double number) {
  const auto single = static_cast<float>(number);
  uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16U);
}

// The bits of a number in (-1, 1), rounded towards zero; numbers below float16's normal range
// become zero.
uint16_t float16_bits(double number) {
  const auto single = static_cast<float>(number);
  uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof(bits));
  const uint32_t sign = bits >> 16U & 0x8000U;
  const uint32_t exponent = bits >> 23U & 0xffU;
  constexpr uint32_t kBiasDifference = 127 - 15;
  if (exponent <= kBiasDifference) return static_cast<uint16_t>(sign);
  return static_cast<uint16_t>(sign | (exponent - kBiasDifference) << 10U | (bits >> 13U & 0x3ffU));
}

}  // namespace

Result<Value> random_value(ElementType type, std::vector<int64_t> shape, uint64_t seed) {
  Random random(seed);
  const auto uniform = [&] { return random.uniform(); };
  const auto bit = [&] { return random.next() >> 63U; };
  EPHOST_ASSIGN_OR_RETURN(Value value, Value::allocate(type, std::move(shape)));
  switch (type) {
    case ElementType::kFloat:
      fill<float>(value, uniform);
      return value;
    case ElementType::kDouble:
      fill<double>(value, uniform);
      return value;
    case ElementType::kFloat16:
      fill<uint16_t>(value, [&] { return float16_bits(random.uniform()); });
      return value;
    case ElementType::kBfloat16:
      fill<uint16_t>(value, [&] { return bfloat16_bits(random.uniform()); });
      return value;
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kBool:
      fill<uint8_t>(value, bit);
      return value;
    case ElementType::kInt16:
    case ElementType::kUint16:
      fill<uint16_t>(value, bit);
      return value;
    case ElementType::kInt32:
    case ElementType::kUint32:
      fill<uint32_t>(value, bit);
      return value;
    case ElementType::kInt64:
    case ElementType::kUint64:
      fill<uint64_t>(value, bit);
      return value;
    default:
      return Status(StatusCode::kInvalidArgument,
                    formatted("there are no random tensors of {}; give the input as a .pb file",
                              element_type_name(type)));
  }
}

}  // namespace ephost::cli
