#include "host/runtime/values/composite.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "host/base/format.h"
#include "host/bridge/abi_text.h"

namespace ephost::runtime {
namespace {

// Only hostile models nest types deeper than this.
constexpr int kMaxDepth = 16;

std::span<const eph_value> parts_of(const eph_value& value) {
  return {static_cast<const eph_value*>(value.data),
          static_cast<size_t>(value.byte_size / sizeof(eph_value))};
}

bool is_key_type(int32_t type) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kUint8:
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kString:
      return true;
    default:
      return false;
  }
}

bool is_list(const eph_value& value) {
  return value.kind == EPH_KIND_SEQUENCE || (value.kind == EPH_KIND_TENSOR && value.rank == 1);
}

// Whether both can be elements of one sequence.
bool are_alike(const eph_value& a, const eph_value& b) {
  if (a.kind != b.kind) return false;
  const bool open = a.kind == EPH_KIND_SEQUENCE && (a.element_type == EPH_ELEMENT_UNDEFINED ||
                                                    b.element_type == EPH_ELEMENT_UNDEFINED);
  if (a.element_type != b.element_type && !open) return false;
  if (a.kind == EPH_KIND_TENSOR || a.kind == EPH_KIND_NONE) return true;
  const std::span<const eph_value> left = parts_of(a);
  const std::span<const eph_value> right = parts_of(b);
  if (a.kind == EPH_KIND_SEQUENCE) {
    return left.empty() || right.empty() || are_alike(left[0], right[0]);
  }
  return are_alike(left[1], right[1]);
}

// The element type of the tensors of a sequence.
ElementType element_type_in(const Composite& parts) {
  if (parts.views.empty() || parts.views[0].kind != EPH_KIND_TENSOR) return ElementType::kUndefined;
  return static_cast<ElementType>(parts.views[0].element_type);
}

void refresh(Composite& parts) {
  parts.views.clear();
  parts.views.reserve(parts.elements.size());
  for (const Value& element : parts.elements) parts.views.push_back(view_of(element));
  parts.count = static_cast<int64_t>(parts.elements.size());
}

Status check_not_sparse(const Value& part) {
  if (part.kind() != ValueKind::kSparseTensor) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                "sequences and maps cannot hold sparse tensors; give their dense form "
                "(Value::to_dense)");
}

Status check_elements(const Composite* base, std::span<const Value> inserted) {
  if (inserted.empty()) return Status::ok_status();
  const eph_value first =
      base != nullptr && !base->views.empty() ? base->views[0] : view_of(inserted[0]);
  for (const Value& element : inserted) {
    EPHOST_RETURN_IF_ERROR(check_not_sparse(element));
    const eph_value view = view_of(element);
    if (view.kind != EPH_KIND_NONE && are_alike(first, view)) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("a sequence cannot hold {} and {}; its elements must be of one kind "
                            "and element type",
                            describe_value(first), describe_value(view)));
  }
  return Status::ok_status();
}

int nesting(const eph_value& value) {
  if (value.kind != EPH_KIND_SEQUENCE && value.kind != EPH_KIND_MAP) return 0;
  int deepest = 0;
  for (const eph_value& part : parts_of(value)) {
    deepest = std::max(deepest, nesting(part));
    if (value.kind == EPH_KIND_SEQUENCE) break;  // all others have the same type
  }
  return deepest + 1;
}

bool conforms(const eph_value& value, const graph::ValueType& type, int depth) {
  if (depth > kMaxDepth) return false;
  const bool element_agrees = type.element == ElementType::kUndefined ||
                              static_cast<int32_t>(type.element) == value.element_type;
  const auto nested = [&](const eph_value& part) {
    return type.nested == nullptr || conforms(part, *type.nested, depth + 1);
  };
  switch (type.kind) {
    case graph::ValueKind::kUnknown:
      return true;
    case graph::ValueKind::kTensor:
      return value.kind == EPH_KIND_TENSOR && element_agrees;
    case graph::ValueKind::kOptional:
      return value.kind == EPH_KIND_NONE || nested(value);
    case graph::ValueKind::kSequence: {
      if (value.kind != EPH_KIND_SEQUENCE) return false;
      // All elements have the same type.
      if (value.byte_size != 0) return nested(parts_of(value)[0]);
      return value.element_type == EPH_ELEMENT_UNDEFINED || type.nested == nullptr ||
             type.nested->kind != graph::ValueKind::kTensor ||
             type.nested->element == ElementType::kUndefined ||
             static_cast<int32_t>(type.nested->element) == value.element_type;
    }
    case graph::ValueKind::kMap: {
      if (value.kind != EPH_KIND_MAP || !element_agrees) return false;
      if (type.nested == nullptr) return true;
      const eph_value& values = parts_of(value)[1];
      // The values of a map to tensors of one element lie in one tensor.
      if (values.kind == EPH_KIND_TENSOR) return conforms(values, *type.nested, depth + 1);
      return values.byte_size == 0 || nested(parts_of(values)[0]);
    }
    case graph::ValueKind::kSparseTensor:
      return false;
  }
  return false;
}

}  // namespace

// ---- What is behind a Value -------------------------------------------------------------------

Result<Value> ValueAccess::allocate(ElementType type, std::vector<int64_t> shape,
                                    uint64_t alignment, Sharing sharing) {
  if (type == ElementType::kString) {
    const auto count = graph::element_count(shape);
    if (!count) return tensor_bytes(type, shape).status();
    return Value::of_strings(std::move(shape), std::vector<std::string>(*count));
  }
  EPHOST_ASSIGN_OR_RETURN(const uint64_t size, tensor_bytes(type, shape));
  AlignedMemory memory = allocate_aligned(size, alignment, sharing);
  if (memory == nullptr) return out_of_memory(size, "a tensor of " + describe_tensor(type, shape));
  Value value;
  value.kind_ = ValueKind::kTensor;
  value.type_ = type;
  value.shape_ = std::move(shape);
  value.bytes_ = {memory.get(), static_cast<size_t>(size)};
  value.owner_ = std::shared_ptr<std::byte[]>(std::move(memory));
  return value;
}

Result<Value> ValueAccess::allocate_for_runs(ElementType type, std::vector<int64_t> shape) {
  EPHOST_ASSIGN_OR_RETURN(Value value,
                          allocate(type, std::move(shape), kAlignment, Sharing::kWithWorkers));
  std::ranges::fill(value.bytes_, std::byte{0});
  return value;
}

Value ValueAccess::sequence(std::shared_ptr<Composite> parts, ElementType type) {
  Value value;
  value.kind_ = ValueKind::kSequence;
  value.type_ = type;
  value.owner_ = std::move(parts);
  return value;
}

Value ValueAccess::on_device(const bridge::DeviceMemory& memory, std::shared_ptr<void> owner,
                             std::byte* data, ElementType type, std::vector<int64_t> shape) {
  Value value = wanted_on(memory);
  value.kind_ = ValueKind::kTensor;
  value.type_ = type;
  value.shape_ = std::move(shape);
  // The block may be larger than the tensor.
  if (data != nullptr) value.bytes_ = {data, tensor_bytes(type, value.shape_).value()};
  value.owner_ = std::move(owner);
  return value;
}

Value ValueAccess::wanted_on(const bridge::DeviceMemory& memory) {
  Value value;
  value.memory_ = std::make_shared<const bridge::DeviceMemory>(memory);
  return value;
}

Result<Value> ValueAccess::map(Value keys, Value values) {
  EPHOST_RETURN_IF_ERROR(check_not_sparse(keys));
  EPHOST_RETURN_IF_ERROR(check_not_sparse(values));
  const eph_value key_view = view_of(keys);
  const eph_value value_view = view_of(values);
  const bool fits = key_view.kind == EPH_KIND_TENSOR && key_view.rank == 1 &&
                    is_key_type(key_view.element_type) && is_list(value_view) &&
                    key_view.shape[0] == value_view.shape[0];
  if (!fits) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("a map cannot be made of keys {} and values {}; pass a list of strings "
                            "or integers, and as many values",
                            describe_value(key_view), describe_value(value_view)));
  }
  auto parts = std::make_shared<Composite>();
  Value made;
  made.kind_ = ValueKind::kMap;
  made.type_ = keys.type_;
  parts->elements.push_back(std::move(keys));
  parts->elements.push_back(std::move(values));
  refresh(*parts);
  made.owner_ = std::move(parts);
  return made;
}

Composite* ValueAccess::composite(const Value& value) {
  const bool has_parts = value.kind_ == ValueKind::kSequence || value.kind_ == ValueKind::kMap;
  return has_parts ? static_cast<Composite*>(value.owner_.get()) : nullptr;
}

StringTensor* ValueAccess::text(const Value& value) {
  const bool is_text = value.kind_ == ValueKind::kTensor && value.type_ == ElementType::kString;
  return is_text ? static_cast<StringTensor*>(value.owner_.get()) : nullptr;
}

// ---- Views and copies -------------------------------------------------------------------------

eph_value view_of(const Value& value) {
  eph_value view = {};
  view.data = empty_tensor_memory();
  view.element_type = static_cast<int32_t>(value.element_type());
  if (Composite* parts = ValueAccess::composite(value)) {
    view.kind = value.kind() == ValueKind::kMap ? EPH_KIND_MAP : EPH_KIND_SEQUENCE;
    if (!parts->views.empty()) view.data = parts->views.data();
    view.byte_size = parts->views.size() * sizeof(eph_value);
    if (view.kind == EPH_KIND_SEQUENCE) {
      view.shape = &parts->count;
      view.rank = 1;
    }
    return view;
  }
  // A sparse value never reaches a plugin, and is not part of other values.
  if (!value.has_value() || value.kind() == ValueKind::kSparseTensor) return view;
  view.kind = EPH_KIND_TENSOR;
  view.shape = value.shape().data();
  view.rank = static_cast<uint32_t>(value.shape().size());
  if (const StringTensor* text = ValueAccess::text(value)) {
    const std::vector<eph_string>& texts = text->views();
    if (!texts.empty()) view.data = const_cast<eph_string*>(texts.data());
    view.byte_size = texts.size() * sizeof(eph_string);
  } else {
    if (!value.bytes().empty()) view.data = const_cast<std::byte*>(value.bytes().data());
    view.byte_size = value.bytes().size();
  }
  return view;
}

Result<Value> copy_tensor(const eph_value& tensor) {
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
  if (tensor.element_type == EPH_ELEMENT_STRING) {
    std::vector<std::string> strings;
    const auto* texts = static_cast<const eph_string*>(tensor.data);
    for (uint64_t i = 0; i < tensor.byte_size / sizeof(eph_string); ++i) {
      strings.emplace_back(bridge::view(texts[i]));
    }
    return Value::of_strings(std::move(shape), std::move(strings));
  }
  EPHOST_ASSIGN_OR_RETURN(
      Value copy,
      ValueAccess::allocate(static_cast<ElementType>(tensor.element_type), std::move(shape)));
  if (tensor.byte_size != 0) {
    std::memcpy(copy.mutable_bytes().data(), tensor.data, tensor.byte_size);
  }
  return copy;
}

Result<Value> splice(Value base, uint64_t position, uint64_t removed, std::vector<Value> inserted) {
  if (base.has_value() && base.kind() != ValueKind::kSequence) {
    return Status(StatusCode::kInvalidArgument,
                  describe_value(view_of(base)) + " is not a sequence");
  }
  Composite* old = ValueAccess::composite(base);
  const uint64_t size = old ? old->elements.size() : 0;
  if (position > size || removed > size - position) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} elements from {} on are not in a sequence of {}", removed, position, size));
  }
  EPHOST_RETURN_IF_ERROR(check_elements(old, inserted));
  for (const Value& element : inserted) {
    if (nesting(view_of(element)) < kMaxDepth) continue;
    return Status(StatusCode::kInvalidArgument, "a sequence is nested too deeply");
  }
  if (old != nullptr && ValueAccess::is_sole_owner(base)) {
    const auto at = static_cast<std::ptrdiff_t>(position);
    const auto until = at + static_cast<std::ptrdiff_t>(removed);
    std::vector<eph_value> views;
    for (const Value& element : inserted) views.push_back(view_of(element));
    old->elements.erase(old->elements.begin() + at, old->elements.begin() + until);
    old->elements.insert(old->elements.begin() + at, std::make_move_iterator(inserted.begin()),
                         std::make_move_iterator(inserted.end()));
    old->views.erase(old->views.begin() + at, old->views.begin() + until);
    old->views.insert(old->views.begin() + at, views.begin(), views.end());
    old->count = static_cast<int64_t>(old->elements.size());
    const ElementType type = old->elements.empty() ? base.element_type() : element_type_in(*old);
    return ValueAccess::sequence(ValueAccess::release(base), type);
  }
  auto parts = std::make_shared<Composite>();
  parts->elements.reserve(size - removed + inserted.size());
  const auto append = [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) parts->elements.push_back(old->elements[i]);
  };
  append(0, position);
  for (Value& element : inserted) parts->elements.push_back(std::move(element));
  append(position + removed, size);
  refresh(*parts);
  const ElementType type = parts->elements.empty() ? base.element_type() : element_type_in(*parts);
  return ValueAccess::sequence(std::move(parts), type);
}

Result<Value> own_tensors(Value value) {
  if (ValueAccess::is_borrowed(value)) return copy_tensor(view_of(value));
  const Composite* parts = ValueAccess::composite(value);
  if (parts == nullptr) return value;
  std::vector<Value> owned;
  bool changed = false;
  for (const Value& part : parts->elements) {
    EPHOST_ASSIGN_OR_RETURN(owned.emplace_back(), own_tensors(part));
    changed = changed || view_of(part).data != view_of(owned.back()).data;
  }
  if (!changed) return value;
  if (value.kind() == ValueKind::kMap) {
    return ValueAccess::map(std::move(owned[0]), std::move(owned[1]));
  }
  return splice({}, 0, 0, std::move(owned));
}

Value with_declared_type(Value value, const graph::ValueType& type) {
  if (type.kind == graph::ValueKind::kOptional && type.nested != nullptr) {
    return with_declared_type(std::move(value), *type.nested);
  }
  const bool is_open =
      value.kind() == ValueKind::kSequence && value.element_type() == ElementType::kUndefined;
  if (!is_open || type.nested == nullptr || type.nested->kind != graph::ValueKind::kTensor) {
    return value;
  }
  return ValueAccess::sequence(ValueAccess::release(value), type.nested->element);
}

// ---- Types ------------------------------------------------------------------------------------

bool conforms(const eph_value& value, const graph::ValueType& type) {
  return conforms(value, type, 0);
}

std::string describe_value(const eph_value& value) {
  const auto type = static_cast<ElementType>(value.element_type);
  switch (value.kind) {
    case EPH_KIND_TENSOR:
      return describe_tensor(type, {value.shape, value.rank});
    case EPH_KIND_SEQUENCE: {
      const std::span<const eph_value> parts = parts_of(value);
      if (parts.empty() || parts[0].kind == EPH_KIND_TENSOR) {
        return formatted("a sequence of {} {} tensors", parts.size(),
                         graph::element_type_name(type));
      }
      return formatted("a sequence of {} {}", parts.size(),
                       parts[0].kind == EPH_KIND_MAP ? "maps" : "sequences");
    }
    case EPH_KIND_MAP:
      return "a map with keys " + describe_value(parts_of(value)[0]);
    default:
      return "an empty optional";
  }
}

}  // namespace ephost::runtime
