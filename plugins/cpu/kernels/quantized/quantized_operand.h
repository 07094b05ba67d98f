// Operands of products of 8-bit integers: a tensor and its zero points.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

// An operand of int8 or uint8 with one zero point, several, or none.
struct QuantizedOperand {
  const eph_value* value;
  const eph_value* zero_points;  // may be null

  // Zero point `i`, modulo the number of zero points.
  [[nodiscard]] int32_t zero_point(int64_t i) const;
  [[nodiscard]] int64_t zero_point_count() const;
  // The largest distance of a number from its zero point.
  [[nodiscard]] int64_t reach() const;
  [[nodiscard]] bool is_signed() const { return value->element_type == EPH_ELEMENT_INT8; }
};

// Throws unless there is one zero point, or one for each row or column of one matrix (`of_one`) or
// of all matrices of the operand (`all`).
void check_zero_points(const QuantizedOperand& operand, int64_t of_one, int64_t all);

// Nothing if one of these inputs of the node is not constant, or there are no elements.
[[nodiscard]] std::optional<QuantizedOperand> constant_operand(const NodeContext& context,
                                                               std::size_t input,
                                                               std::size_t zero_points);

}  // namespace ephost_cpu
