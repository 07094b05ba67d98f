#include "plugins/dnnl/executor/own_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "plugins/dnnl/executor/for_blocks.h"
#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {
namespace {

constexpr int64_t kLanes = 16;
using Floats = float __attribute__((vector_size(64)));
using Ints = int32_t __attribute__((vector_size(64)));
using Bytes = int8_t __attribute__((vector_size(16)));

// The bounds of a rounded quotient to which the zero point is yet to be added.
struct Target {
  float scale, low, high;
  int32_t zero_point;
};

Target target_of(const Conversion& op) {
  const IntegerRange range = range_of(op.type);
  return {op.output_scale, static_cast<float>(range.least - op.output_zero_point),
          static_cast<float>(range.greatest - op.output_zero_point),
          static_cast<int32_t>(op.output_zero_point)};
}

// A float that 1.5 * 2^23 was added to has its integer in the last bits, rounded half to even.
[[gnu::always_inline]] inline void quantize_lanes(const float* from, const Target& target,
                                                  void* to) {
  constexpr float kRound = 12582912.0F;
  Floats x;
  std::memcpy(&x, from, sizeof(x));
  const Floats low = Floats{} + target.low, high = Floats{} + target.high;
  x = x == x ? x / target.scale : Floats{};
  x = x > low ? x : low;
  x = x < high ? x : high;
  const Ints rounded = __builtin_bit_cast(Ints, x + kRound) +
                       (target.zero_point - __builtin_bit_cast(int32_t, kRound));
  const Bytes bytes = __builtin_convertvector(rounded, Bytes);
  std::memcpy(to, &bytes, sizeof(bytes));
}

#if defined(__x86_64__)
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
void quantize(const float* from, int64_t count, const Target& target, char* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) quantize_lanes(from + i, target, to + i);
  if (i == count) return;
  std::array<float, kLanes> rest = {};
  std::array<char, kLanes> quantized = {};
  std::copy(from + i, from + count, rest.begin());
  quantize_lanes(rest.data(), target, quantized.data());
  std::copy_n(quantized.begin(), count - i, to + i);
}

class FloatQuantization : public OwnKernel {
 public:
  FloatQuantization(const Conversion& op, int64_t count) : target_(target_of(op)), count_(count) {}

  void run(const void* const* inputs, void* output) const override {
    for_blocks(count_, [&](int64_t first, int64_t count) {
      quantize(static_cast<const float*>(inputs[0]) + first, count, target_,
               static_cast<char*>(output) + first);
    });
  }

 private:
  Target target_;
  int64_t count_;
};

// From one kind of 8-bit integers to another, by a table of their 256 values.
class Requantization : public OwnKernel {
 public:
  Requantization(const Conversion& op, ElementType from, int64_t count) : count_(count) {
    std::array<float, 256> floats = {};
    for (std::size_t byte = 0; byte < floats.size(); ++byte) {
      const auto integer = from == ElementType::kU8
                               ? static_cast<int64_t>(byte)
                               : static_cast<int64_t>(static_cast<int8_t>(byte));
      floats[byte] = static_cast<float>(integer - op.input_zero_point) * op.input_scale;
    }
    quantize(floats.data(), std::ssize(floats), target_of(op), table_.data());
  }

  void run(const void* const* inputs, void* output) const override {
    for_blocks(count_, [&](int64_t first, int64_t count) {
      const auto* const source = static_cast<const unsigned char*>(inputs[0]) + first;
      std::transform(source, source + count, static_cast<char*>(output) + first,
                     [&](unsigned char byte) { return table_[byte]; });
    });
  }

 private:
  std::array<char, 256> table_ = {};
  int64_t count_;
};

}  // namespace

std::shared_ptr<const OwnKernel> make_quantization(const Conversion& op, ElementType from,
                                                   int64_t count) {
  if (is_integer(from)) return std::make_shared<Requantization>(op, from, count);
  return std::make_shared<FloatQuantization>(op, count);
}

}  // namespace ephost_dnnl
