#include "host/runtime/control_flow/stacked_output.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/bridge/abi_text.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

std::span<const eph_string> texts_of(const eph_value& value) {
  return {static_cast<const eph_string*>(value.data),
          static_cast<size_t>(value.byte_size / sizeof(eph_string))};
}

uint64_t product(std::span<const int64_t> extents) {
  uint64_t product = 1;
  for (const int64_t extent : extents) product *= static_cast<uint64_t>(extent);
  return product;
}

bool fills_bytes(ElementType type, std::span<const int64_t> shape) {
  const uint32_t bits = graph::element_bits(type);
  return bits % 8 == 0 || graph::element_count(shape).value_or(0) * bits % 8 == 0;
}

Status check_tensor(const eph_value& value) {
  if (value.kind == EPH_KIND_TENSOR) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                "a scan output came out as " + describe_value(value) + "; it must be a tensor");
}

}  // namespace

Status ElementForm::set(ElementType new_type, std::span<const int64_t> new_shape) {
  if (!fills_bytes(new_type, new_shape)) {
    return Status(StatusCode::kNotImplemented,
                  formatted("elements of {} end inside a byte and cannot be put together",
                            describe_tensor(new_type, new_shape)));
  }
  EPHOST_ASSIGN_OR_RETURN(bytes, tensor_bytes(new_type, new_shape));
  type = new_type;
  shape.assign(new_shape.begin(), new_shape.end());
  return Status::ok_status();
}

Status ElementForm::check(const eph_value& value) const {
  const auto given = static_cast<ElementType>(value.element_type);
  const std::span<const int64_t> given_shape(value.shape, value.rank);
  if (given == type && std::ranges::equal(given_shape, shape)) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("a scan output came out as {}, earlier iterations gave {}; all must be "
                          "equal to be put together",
                          describe_tensor(given, given_shape), describe_tensor(type, shape)));
}

Status set_from_type(ElementForm& form, const graph::ValueType& type) {
  std::vector<int64_t> shape = type.shape.value_or(graph::Shape());
  for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 0);
  return form.set(type.element, shape);
}

// ---- Loop -------------------------------------------------------------------------------------

Status GrowingStack::full() const {
  return Status(
      StatusCode::kOutOfMemory,
      formatted("out of memory: a scan output of {} iterations cannot grow beyond {} bytes", count_,
                used_));
}

Status GrowingStack::reserve_one() {
  const auto needed = checked_add(used_, form_.bytes);
  if (needed && *needed <= capacity_) return Status::ok_status();
  const bool allowed = needed && *needed <= limit_;
  const uint64_t wanted = allowed ? std::min(std::max(*needed, 2 * capacity_), limit_) : 0;
  AlignedMemory grown = allowed ? allocate_aligned(wanted) : nullptr;
  if (grown == nullptr) return full();
  if (used_ != 0) std::memcpy(grown.get(), memory_.get(), used_);
  memory_ = std::move(grown);
  capacity_ = wanted;
  return Status::ok_status();
}

Result<Value> GrowingStack::place() {
  if (!form_.is_known() || form_.is_text() || form_.bytes == 0) return Value();
  EPHOST_RETURN_IF_ERROR(reserve_one());
  return Value::borrow(form_.type, form_.shape,
                       {memory_.get() + used_, static_cast<size_t>(form_.bytes)});
}

Status GrowingStack::append(const Held& element) {
  const eph_value& view = element.view;
  EPHOST_RETURN_IF_ERROR(check_tensor(view));
  if (!form_.is_known()) {
    EPHOST_RETURN_IF_ERROR(form_.set(static_cast<ElementType>(view.element_type), element.shape));
  }
  EPHOST_RETURN_IF_ERROR(form_.check(view));
  ++count_;
  if (form_.is_text()) {
    for (const eph_string text : texts_of(view)) {
      texts_.emplace_back(bridge::view(text));
      used_ += sizeof(std::string) + texts_.back().size();
    }
    return used_ <= limit_ ? Status::ok_status() : full();
  }
  EPHOST_RETURN_IF_ERROR(reserve_one());
  std::byte* const target = memory_.get() + used_;
  if (form_.bytes != 0 && view.data != target) std::memcpy(target, view.data, form_.bytes);
  used_ += form_.bytes;
  return Status::ok_status();
}

Status GrowingStack::finish(HostStep& step, size_t output, const graph::ValueType& declared) {
  if (!form_.is_known()) EPHOST_RETURN_IF_ERROR(set_from_type(form_, declared));
  std::vector<int64_t> shape = {count_};
  shape.insert(shape.end(), form_.shape.begin(), form_.shape.end());
  EPHOST_ASSIGN_OR_RETURN(const eph_value* target, step.allocate(output, form_.type, shape));
  for (size_t i = 0; i < texts_.size(); ++i) step.set_string(output, i, texts_[i]);
  if (!form_.is_text() && used_ != 0) std::memcpy(target->data, memory_.get(), used_);
  return Status::ok_status();
}

// ---- Scan -------------------------------------------------------------------------------------

Status FixedStack::allocate(ElementType type, std::span<const int64_t> shape) {
  EPHOST_RETURN_IF_ERROR(form_.set(type, shape));
  const auto rank = static_cast<int64_t>(shape.size() + 1);
  const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
  if (axis < 0 || axis >= rank) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("scan output axis {} is not in a tensor of rank {}", axis_, rank));
  }
  const std::span<const int64_t> before = shape.first(static_cast<size_t>(axis));
  const std::span<const int64_t> behind = shape.subspan(static_cast<size_t>(axis));
  if (axis != 0 && !fills_bytes(type, behind)) {
    return Status(
        StatusCode::kNotImplemented,
        formatted("a scan output of {} cannot be put together at axis {}, which is inside a byte",
                  describe_tensor(type, shape), axis));
  }
  std::vector<int64_t> whole(before.begin(), before.end());
  whole.insert(whole.end(), lengths_.begin(), lengths_.end());
  whole.insert(whole.end(), behind.begin(), behind.end());
  EPHOST_ASSIGN_OR_RETURN(const eph_value* target, step_.allocate(output_, type, whole));
  data_ = static_cast<std::byte*>(target->data);
  outer_ = product(before);
  inner_bytes_ = outer_ == 0 ? 0 : form_.bytes / outer_;
  if (padded_ && !form_.is_text()) std::memset(data_, 0, target->byte_size);
  return Status::ok_status();
}

Status FixedStack::prepare(const graph::ValueType& declared) {
  const bool known = declared.kind == graph::ValueKind::kTensor &&
                     declared.element != ElementType::kUndefined && declared.shape &&
                     graph::is_static(*declared.shape);
  return known ? allocate(declared.element, *declared.shape) : Status::ok_status();
}

Result<Value> FixedStack::place(uint64_t position) const {
  if (data_ == nullptr || form_.is_text() || outer_ != 1 || form_.bytes == 0) return Value();
  return Value::borrow(form_.type, form_.shape,
                       {data_ + position * form_.bytes, static_cast<size_t>(form_.bytes)});
}

Status FixedStack::store(uint64_t position, const Held& element) {
  const eph_value& view = element.view;
  EPHOST_RETURN_IF_ERROR(check_tensor(view));
  if (data_ == nullptr) {
    EPHOST_RETURN_IF_ERROR(allocate(static_cast<ElementType>(view.element_type), element.shape));
  }
  EPHOST_RETURN_IF_ERROR(form_.check(view));
  const uint64_t stride = inner_bytes_ * product(lengths_);
  const auto* from = static_cast<const std::byte*>(view.data);
  for (uint64_t i = 0; i < outer_ && inner_bytes_ != 0; ++i) {
    const uint64_t offset = i * stride + position * inner_bytes_;
    if (form_.is_text()) {
      const uint64_t block = inner_bytes_ / sizeof(eph_string);
      const std::span<const eph_string> texts = texts_of(view).subspan(i * block, block);
      for (size_t k = 0; k < texts.size(); ++k) {
        step_.set_string(output_, offset / sizeof(eph_string) + k, bridge::view(texts[k]));
      }
    } else if (data_ + offset != from + i * inner_bytes_) {
      std::memcpy(data_ + offset, from + i * inner_bytes_, inner_bytes_);
    }
  }
  return Status::ok_status();
}

Status FixedStack::finish(const graph::ValueType& declared) {
  if (data_ != nullptr) return Status::ok_status();
  ElementForm form;
  EPHOST_RETURN_IF_ERROR(set_from_type(form, declared));
  return allocate(form.type, form.shape);
}

}  // namespace ephost::runtime
