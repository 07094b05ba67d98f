#include "plugins/cpu/core/float_arguments.h"

#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {

const void* FloatArguments::input_as(uint32_t i, int32_t type) {
  const eph_value* value = run_.input(i);
  if (value == nullptr || value->element_type == type) return value ? value->data : nullptr;
  const int64_t count = element_count(dims_of(*value));
  void* copy = run_.scratch(static_cast<uint64_t>(checked_multiply(count, element_size(type))));
  convert(value->data, value->element_type, copy, type, count);
  return copy;
}

void* FloatArguments::output_as(uint32_t i, int32_t element_type, const Dims& shape, int32_t type) {
  const eph_value& value = allocate_output(run_, i, element_type, shape);
  if (element_type == type) return value.data;
  const int64_t count = element_count(shape);
  void* memory = run_.scratch(static_cast<uint64_t>(checked_multiply(count, element_size(type))));
  pending_[pending_count_++] = {i, memory, type, count};
  return memory;
}

void FloatArguments::finish() {
  for (std::size_t p = 0; p < pending_count_; ++p) {
    const Pending& pending = pending_[p];
    const eph_value& value = *run_.output(pending.output);
    convert(pending.from, pending.type, value.data, value.element_type, pending.count);
  }
  pending_count_ = 0;
}

}  // namespace ephost_cpu
