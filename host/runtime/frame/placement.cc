#include "host/runtime/frame/placement.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ephost::runtime {

uint64_t Placement::number(const eph_run& run) {
  operands_.resize(size_t{run.input_count} + run.output_count);
  bool has_changed = std::exchange(workspace_, run.workspace) != run.workspace || number_ == 0;
  for (uint32_t i = 0; i < run.input_count; ++i) {
    has_changed |= update(operands_[i], run.inputs[i]);
  }
  for (uint32_t i = 0; i < run.output_count; ++i) {
    has_changed |= update(operands_[run.input_count + i], run.outputs[i]);
  }
  return has_changed ? ++number_ : number_;
}

bool Placement::update(Operand& known, const eph_value* operand) {
  static constexpr eph_value kNone = {};
  const eph_value& now = operand == nullptr ? kNone : *operand;
  const std::span<const int64_t> shape(now.shape, now.rank);
  const bool is_known = known.data == now.data && known.byte_size == now.byte_size &&
                        std::ranges::equal(known.shape, shape);
  if (is_known) return false;
  known.data = now.data;
  known.byte_size = now.byte_size;
  known.shape.assign(shape.begin(), shape.end());
  return true;
}

}  // namespace ephost::runtime
