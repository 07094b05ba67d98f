#include "plugins/cpu/kernels/quantized/quantized_operand.h"

#include <algorithm>

namespace ephost_cpu {

int64_t QuantizedOperand::zero_point_count() const {
  return zero_points == nullptr ? 1 : element_count(eph::shape_of(*zero_points));
}

int32_t QuantizedOperand::zero_point(int64_t i) const {
  if (zero_points == nullptr) return 0;
  const int64_t at = i % zero_point_count();
  return zero_points->element_type == EPH_ELEMENT_INT8
             ? int32_t{data<const int8_t>(*zero_points)[at]}
             : int32_t{data<const uint8_t>(*zero_points)[at]};
}

int64_t QuantizedOperand::reach() const {
  int64_t reach = 0;
  for (int64_t i = 0; i < zero_point_count(); ++i) {
    const int64_t zero = zero_point(i);
    reach = std::max({reach, (is_signed() ? 127 : 255) - zero, zero - (is_signed() ? -128 : 0)});
  }
  return reach;
}

void check_zero_points(const QuantizedOperand& operand, int64_t of_one, int64_t all) {
  const int64_t count = operand.zero_point_count();
  if (count == 1 || (count > 0 && (count == of_one || count == all))) return;
  fail("zero points of shape " + to_string(eph::shape_of(*operand.zero_points)) +
       " do not match an operand of shape " + to_string(eph::shape_of(*operand.value)));
}

std::optional<QuantizedOperand> constant_operand(const NodeContext& context, std::size_t input,
                                                 std::size_t zero_points) {
  const QuantizedOperand operand = {context.constant(input), context.constant(zero_points)};
  if (operand.value == nullptr || element_count(dims_of(*operand.value)) == 0) return std::nullopt;
  if (operand.zero_points == nullptr) {
    if (context.has_input(zero_points)) return std::nullopt;
  } else if (operand.zero_points->element_type != operand.value->element_type ||
             operand.zero_point_count() == 0) {
    return std::nullopt;  // `run` refuses it
  }
  return operand;
}

}  // namespace ephost_cpu
