#include "host/runtime/control_flow/scan_input.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/graph/types.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

Result<ScanInput> ScanInput::create(const eph_value& value, int64_t axis, bool reversed) {
  const auto type = static_cast<ElementType>(value.element_type);
  const std::span<const int64_t> shape(value.shape, value.rank);
  const auto rank = static_cast<int64_t>(value.rank);
  const int64_t given = axis;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    return Status(StatusCode::kInvalidArgument, formatted("scan input axis {} is not in {}", given,
                                                          describe_tensor(type, shape)));
  }
  ScanInput input;
  input.value_ = value;
  input.length_ = shape[static_cast<size_t>(axis)];
  input.reversed_ = reversed;
  input.shape_.assign(shape.begin(), shape.end());
  input.shape_.erase(input.shape_.begin() + axis);
  for (const int64_t extent : shape.first(static_cast<size_t>(axis))) {
    input.outer_ *= static_cast<uint64_t>(extent);
  }
  const std::span<const int64_t> behind = shape.subspan(static_cast<size_t>(axis) + 1);
  EPHOST_ASSIGN_OR_RETURN(input.inner_bytes_, tensor_bytes(type, behind));
  const uint64_t slices = input.outer_ * static_cast<uint64_t>(input.length_);
  if (input.inner_bytes_ * slices != value.byte_size) {
    return Status(StatusCode::kNotImplemented,
                  formatted("slices of {} along axis {} begin inside a byte",
                            describe_tensor(type, shape), axis));
  }
  return input;
}

Result<HeldValue> ScanInput::slice(int64_t index) {
  const auto position = static_cast<uint64_t>(reversed_ ? length_ - 1 - index : index);
  const uint64_t bytes = outer_ * inner_bytes_;
  if (held_ == nullptr || !is_exclusive(held_)) held_ = std::make_shared<Held>();
  if (outer_ == 1 || bytes == 0) {
    eph_value view = value_;
    view.byte_size = bytes;
    view.data = bytes == 0 ? empty_tensor_memory()
                           : static_cast<std::byte*>(value_.data) + position * inner_bytes_;
    set_borrowed(*held_, view, shape_);
  } else {
    EPHOST_RETURN_IF_ERROR(gather(position));
  }
  return held_;
}

// Gathers views of text, not the text itself.
Status ScanInput::gather(uint64_t position) {
  const uint64_t bytes = outer_ * inner_bytes_;
  eph_value view = value_;
  view.byte_size = bytes;
  if (value_.element_type == EPH_ELEMENT_STRING) {
    held_->texts.resize(static_cast<size_t>(bytes / sizeof(eph_string)));
    view.data = held_->texts.data();
  } else {
    if (!held_->value.has_value()) {
      EPHOST_ASSIGN_OR_RETURN(
          held_->value, Value::allocate(static_cast<ElementType>(value_.element_type), shape_));
    }
    view.data = held_->value.mutable_bytes().data();
  }
  const auto* from = static_cast<const std::byte*>(value_.data) + position * inner_bytes_;
  auto* to = static_cast<std::byte*>(view.data);
  const uint64_t stride = static_cast<uint64_t>(length_) * inner_bytes_;
  for (uint64_t i = 0; i < outer_; ++i) {
    std::memcpy(to + i * inner_bytes_, from + i * stride, inner_bytes_);
  }
  set_borrowed(*held_, view, shape_);
  return Status::ok_status();
}

}  // namespace ephost::runtime
