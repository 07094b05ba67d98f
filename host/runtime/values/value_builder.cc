#include "host/runtime/values/value_builder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "host/base/format.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

Status unknown_value() {
  return Status(StatusCode::kInvalidArgument,
                "a value was passed that this call did not make, and that is neither an input nor "
                "an element of one; report this to the plugin's vendor");
}

// The part of `value` whose view lies at that address, or null.
const Value* part_at(const Value& value, const eph_value* address) {
  const Composite* parts = ValueAccess::composite(value);
  if (parts == nullptr) return nullptr;
  const eph_value* const begin = parts->views.data();
  const std::less<const eph_value*> less;
  if (less(address, begin) || !less(address, begin + parts->views.size())) return nullptr;
  const auto offset = static_cast<size_t>(reinterpret_cast<const char*>(address) -
                                          reinterpret_cast<const char*>(begin));
  if (offset % sizeof(eph_value) != 0) return nullptr;
  return &parts->elements[offset / sizeof(eph_value)];
}

}  // namespace

eph_value* ValueBuilder::keep(Value value) {
  auto made = std::make_unique<Made>();
  made->value = std::move(value);
  made->view = view_of(made->value);
  eph_value* const view = &made->view;
  made_.emplace(view, std::move(made));
  return view;
}

Result<eph_value*> ValueBuilder::make_tensor(ElementType type, std::span<const int64_t> shape) {
  EPHOST_ASSIGN_OR_RETURN(Value value, ValueAccess::allocate(type, {shape.begin(), shape.end()}));
  return keep(std::move(value));
}

Status ValueBuilder::set_element(const eph_value* tensor, uint64_t element, eph_string text) {
  const auto made = made_.find(tensor);
  if (made == made_.end()) return unknown_value();
  StringTensor* strings = ValueAccess::text(made->second->value);
  if (strings != nullptr && strings->set(element, text)) return Status::ok_status();
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} has no string element {}", describe_value(made->second->view), element));
}

Result<Value> ValueBuilder::find(const eph_value* value, bool take) {
  if (value == nullptr) return Value();
  if (const auto made = made_.find(value); made != made_.end()) return made->second->value;
  for (const Input& input : inputs_) {
    if (input.view == nullptr) continue;
    if (input.view == value && value->memory != 0) {
      return Status(StatusCode::kInvalidArgument,
                    "an input that lies in device memory cannot be handed on or become a part of a "
                    "value; ask for it in host memory (ephost/ext/device.h)");
    }
    if (input.view == value && input.object == nullptr) return copy_tensor(*value);
    if (input.view == value && take && input.taken_view != nullptr) {
      // A kernel that reads it nevertheless finds an empty value instead of freed memory.
      *input.taken_view = view_of(Value());
      if (input.taken_copy != nullptr) *input.taken_copy = *input.taken_view;
      return std::exchange(*input.object, Value());
    }
    if (input.view == value) return *input.object;
    if (input.object == nullptr) continue;
    if (const Value* part = part_at(*input.object, value)) return *part;
  }
  return unknown_value();
}

Result<Value> ValueBuilder::take_base(const eph_value* base) {
  const auto made = made_.find(base);
  // What is not a sequence is refused, and stays what it is.
  if (made == made_.end() || made->second->value.kind() != ValueKind::kSequence) {
    return find(base, true);
  }
  made->second->view = view_of(Value());
  return std::exchange(made->second->value, Value());
}

Result<const eph_value*> ValueBuilder::make_sequence(const eph_value* base, uint64_t position,
                                                     uint64_t removed,
                                                     std::span<const eph_value* const> inserted) {
  std::vector<Value> elements;
  elements.reserve(inserted.size());
  for (const eph_value* element : inserted) {
    if (element == nullptr) return unknown_value();
    EPHOST_ASSIGN_OR_RETURN(elements.emplace_back(), find(element));
  }
  EPHOST_ASSIGN_OR_RETURN(Value old, take_base(base));
  EPHOST_ASSIGN_OR_RETURN(Value made,
                          splice(std::move(old), position, removed, std::move(elements)));
  return keep(std::move(made));
}

Result<const eph_value*> ValueBuilder::make_map(const eph_value* keys, const eph_value* values) {
  EPHOST_ASSIGN_OR_RETURN(Value map_keys, find(keys));
  EPHOST_ASSIGN_OR_RETURN(Value map_values, find(values));
  EPHOST_ASSIGN_OR_RETURN(Value made, ValueAccess::map(std::move(map_keys), std::move(map_values)));
  return keep(std::move(made));
}

}  // namespace ephost::runtime
