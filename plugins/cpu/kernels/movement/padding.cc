#include "plugins/cpu/kernels/movement/padding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/kernels/movement/strided_copy.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

void fill_output(eph::Run& run, const void* value) {
  const eph_value& y = *run.output(0);
  const int64_t count = element_count(eph::shape_of(y));
  if (y.element_type == EPH_ELEMENT_STRING) {
    const std::string_view text =
        value != nullptr ? eph::view(*static_cast<const eph_string*>(value)) : std::string_view();
    for (int64_t i = 0; i < count; ++i) run.set_string(0, static_cast<uint64_t>(i), text);
    return;
  }
  alignas(16) static constexpr std::array<char, 16> kZero = {};
  const void* element = value != nullptr ? value : kZero.data();
  if (is_packed(y.element_type)) {
    std::memset(y.data, repeat_element(y.element_type, *static_cast<const uint8_t*>(element)),
                static_cast<std::size_t>(storage_size(y.element_type, count)));
    return;
  }
  dispatch_size(element_size(y.element_type), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(data<T>(y), count, *static_cast<const T*>(element));
  });
}

}  // namespace

void pad_with(eph::Run& run, const Dims& before, const Dims& out, const void* value) {
  const eph_value& x = *run.input(0);
  const Dims shape = dims_of(x);
  allocate_output(run, 0, x.element_type, out);
  if (element_count(out) == 0) return;
  fill_output(run, value);
  CopyPlan plan;
  plan.from_strides = dense_strides(shape);
  plan.to_strides = dense_strides(out);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    // Beyond the output on either side, nothing is left to copy.
    const int64_t shift = std::clamp(before[i], -shape[i], out[i]);
    const int64_t begin = std::max<int64_t>(0, -shift);
    const int64_t end = std::min(shape[i], out[i] - shift);
    if (end <= begin) return;
    plan.extents.push_back(end - begin);
    plan.from_offset += begin * plan.from_strides[i];
    plan.to_offset += (begin + shift) * plan.to_strides[i];
  }
  strided_copy(plan, x, run, 0);
}

}  // namespace ephost_cpu
