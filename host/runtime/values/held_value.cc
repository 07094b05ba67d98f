#include "host/runtime/values/held_value.h"

#include <algorithm>
#include <utility>

#include "host/runtime/values/composite.h"

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

HeldValue hold_value(Value value) {
  auto held = std::make_shared<Held>();
  held->value = std::move(value);
  const eph_value view = view_of(held->value);
  set_borrowed(*held, view, {view.shape, view.rank});
  return held;
}

Result<Value> take_value(const HeldValue& held) {
  const bool is_own = held->value.has_value() && !ValueAccess::is_borrowed(held->value);
  if (held->view.kind == EPH_KIND_TENSOR && !is_own) return copy_tensor(held->view);
  if (is_exclusive(held)) return std::exchange(held->value, Value());
  return held->value;
}

Result<HeldValue> hold_scalar(ElementType type, std::vector<int64_t> shape) {
  auto held = std::make_shared<Held>();
  EPHOST_ASSIGN_OR_RETURN(held->value, Value::allocate(type, std::move(shape)));
  set_borrowed(*held, view_of(held->value), held->value.shape());
  return held;
}

bool same_tensor_type(const eph_value& a, const eph_value& b) {
  return a.kind == b.kind && a.element_type == b.element_type &&
         std::equal(a.shape, a.shape + a.rank, b.shape, b.shape + b.rank);
}

}  // namespace ephost::runtime
