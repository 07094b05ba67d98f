#include "plugins/cpu/microsoft/quantized/quantized_parameters.h"

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {

QuantizedParameters read_parameters(const eph::Run& run, uint32_t scale, uint32_t zero_point) {
  for (const uint32_t input : {scale, zero_point}) {
    const eph_value* value = run.input(input);
    if (value != nullptr && element_count(eph::shape_of(*value)) != 1) {
      fail("input " + std::to_string(input) + " of shape " + to_string(eph::shape_of(*value)) +
           " is not a single number");
    }
  }
  const eph_value* zero = run.input(zero_point);
  const int32_t number = zero == nullptr ? 0
                         : zero->element_type == EPH_ELEMENT_INT8
                             ? int32_t{*data<const int8_t>(*zero)}
                             : int32_t{*data<const uint8_t>(*zero)};
  return {*run.input_data<float>(scale), number};
}

ByteTable byte_table(int32_t element_type, int32_t zero_point, float factor) {
  ByteTable table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const int32_t number = element_type == EPH_ELEMENT_INT8
                               ? int32_t{static_cast<int8_t>(static_cast<uint8_t>(i))}
                               : static_cast<int32_t>(i);
    table[i] = static_cast<float>(number - zero_point) * factor;
  }
  return table;
}

void look_up(const ByteTable& table, const void* x, float* y, int64_t count) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  parallel_for(count, 0.5, [&table, bytes, y](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = table[bytes[i]];
  });
}

void quantize_bytes(int32_t element_type, const float* x, QuantizedParameters to, void* y,
                    int64_t count) {
  const QuantizedRange range = quantized_range(element_type);
  const auto zero_point = static_cast<float>(to.zero_point);
  dispatch<int8_t, uint8_t>(element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* bytes = static_cast<T*>(y);
    parallel_for(count, 1, [=](int64_t begin, int64_t end) {
      quantize(x + begin, to.scale, zero_point, range, bytes + begin, end - begin);
    });
  });
}

void check_parameters(const eph::Inference& node, uint32_t scale, uint32_t zero_point) {
  infer::check_scalar(infer::shape_of(node, scale), "scale");
  infer::check_scalar(infer::shape_of(node, zero_point), "zero point");
}

}  // namespace ephost_cpu
