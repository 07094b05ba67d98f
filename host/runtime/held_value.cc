#include "host/runtime/held_value.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/bridge/abi_text.h"
#include "host/runtime/tensor_memory.h"

namespace ephost::runtime {

void set_borrowed(Held& held, const eph_value& value, std::span<const int64_t> shape) {
  held.shape.assign(shape.begin(), shape.end());
  held.view = value;
  held.view.shape = held.shape.data();
  held.view.rank = static_cast<uint32_t>(held.shape.size());
}

HeldValue hold_borrowed(const eph_value& value) {
  auto held = std::make_shared<Held>();
  set_borrowed(*held, value, {value.shape, value.rank});
  return held;
}

HeldValue hold_strings(const eph_value& value) {
  HeldValue held = hold_borrowed(value);
  const std::span views(static_cast<const eph_string*>(value.data),
                        static_cast<size_t>(value.byte_size / sizeof(eph_string)));
  std::vector<std::string> strings;
  strings.reserve(views.size());
  for (const eph_string text : views) strings.emplace_back(bridge::view(text));
  // As many strings as the shape says: that was checked when the value was made.
  held->value = Value::of_strings(held->shape, std::move(strings)).value();
  for (const std::string& text : held->value.strings()) {
    held->texts.push_back(bridge::to_abi(text));
  }
  held->view.data = held->texts.empty() ? empty_tensor_memory() : held->texts.data();
  return held;
}

Result<HeldValue> hold_scalar(ElementType type, std::vector<int64_t> shape) {
  auto held = std::make_shared<Held>();
  EPHOST_ASSIGN_OR_RETURN(held->value, Value::allocate(type, std::move(shape)));
  eph_value view = {};
  view.data = held->value.mutable_bytes().data();
  view.byte_size = held->value.bytes().size();
  view.element_type = static_cast<int32_t>(type);
  view.kind = EPH_KIND_TENSOR;
  set_borrowed(*held, view, held->value.shape());
  return held;
}

bool same_tensor_type(const eph_value& a, const eph_value& b) {
  return a.kind == b.kind && a.element_type == b.element_type &&
         std::equal(a.shape, a.shape + a.rank, b.shape, b.shape + b.rank);
}

}  // namespace ephost::runtime
