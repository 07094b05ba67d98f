#include "host/runtime/values/device_value.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "host/base/format.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

using bridge::kHostMemory;

constexpr std::string_view kWhat = "a value of the application";
// As much passes through host memory at a time.
constexpr size_t kStagingBytes = size_t{4} << 20;

Status copy_between(const bridge::DeviceMemory& from, const std::byte* source,
                    const bridge::DeviceMemory& to, std::byte* target, uint64_t size) {
  if (from.device == to.device) {
    return to.device->copy(to.number, target, from.number, source, size, kWhat);
  }
  if (!from.info().peers.empty() && from.info().peers == to.info().peers) {
    return to.device->copy(to.number, target, bridge::kPeerMemory, source, size, kWhat);
  }
  const AlignedMemory staging = allocate_aligned(std::min<uint64_t>(size, kStagingBytes));
  if (staging == nullptr) return out_of_memory(kStagingBytes, "a copy between devices");
  for (uint64_t done = 0; done < size; done += kStagingBytes) {
    const uint64_t part = std::min<uint64_t>(size - done, kStagingBytes);
    EPHOST_RETURN_IF_ERROR(
        from.device->copy(kHostMemory, staging.get(), from.number, source + done, part, kWhat));
    EPHOST_RETURN_IF_ERROR(
        to.device->copy(to.number, target + done, kHostMemory, staging.get(), part, kWhat));
  }
  return Status::ok_status();
}

bool is_numeric_tensor(const Value& value) {
  return value.kind() == ValueKind::kTensor && value.element_type() != ElementType::kString;
}

}  // namespace

Result<Value> allocate_on(const bridge::DeviceMemory& memory, ElementType type,
                          std::vector<int64_t> shape) {
  EPHOST_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(type, shape));
  if (type == ElementType::kString) {
    return Status(StatusCode::kInvalidArgument,
                  "a tensor of strings cannot lie in the memory of a device; make it in host "
                  "memory");
  }
  if (bytes == 0) return ValueAccess::on_device(memory, nullptr, nullptr, type, std::move(shape));
  EPHOST_ASSIGN_OR_RETURN(bridge::DeviceBlock block,
                          bridge::DeviceBlock::allocate(memory, bytes, kWhat));
  if (memory.info().is_staging) {
    auto owner = std::make_shared<bridge::DeviceBlock>(std::move(block));
    const std::span<std::byte> place(owner->data(), bytes);
    return Value::share(type, std::move(shape), place, std::move(owner));
  }
  auto owner = std::make_shared<bridge::DeviceBlock>(std::move(block));
  std::byte* const data = owner->data();
  return ValueAccess::on_device(memory, std::move(owner), data, type, std::move(shape));
}

Result<Value> import_on(const bridge::DeviceMemory& memory, const eph_external& from,
                        ElementType type, std::vector<int64_t> shape, std::shared_ptr<void> owner) {
  EPHOST_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(type, shape));
  if (type == ElementType::kString || bytes == 0 || bytes > from.size) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} bytes of others cannot be a tensor of {} bytes; give as many as the "
                  "shape says, at least one, and no strings",
                  from.size, bytes));
  }
  EPHOST_ASSIGN_OR_RETURN(std::byte* const data, memory.device->import_memory(memory.number, from));
  std::shared_ptr<void> import(data, [memory, owner = std::move(owner)](std::byte* imported) {
    memory.device->release_import(memory.number, imported);
  });
  return ValueAccess::on_device(memory, std::move(import), data, type, std::move(shape));
}

Result<eph_external> export_from(const Value& value, int32_t kind) {
  if (value.memory() != nullptr && !value.extent().empty()) {
    return value.memory()->device->export_memory(value.memory()->number, value.extent().data(),
                                                 value.extent().size(), kind);
  }
  return Status(StatusCode::kInvalidArgument,
                "only a tensor with elements in the memory of a device is lent to others");
}

Value wanted_on(const bridge::DeviceMemory& memory) { return ValueAccess::wanted_on(memory); }

Value wanted_like(const Value& value) {
  return value.memory() == nullptr ? Value() : wanted_on(*value.memory());
}

bool share_memory(const Value& a, const Value& b) {
  if (a.memory() == nullptr || b.memory() == nullptr) return a.memory() == b.memory();
  return *a.memory() == *b.memory();
}

bool overlap(const Value& a, const Value& b) {
  const std::less<> before;
  const auto end = [](const Value& value) { return value.extent().data() + value.extent().size(); };
  return !a.extent().empty() && !b.extent().empty() && share_memory(a, b) &&
         before(a.extent().data(), end(b)) && before(b.extent().data(), end(a));
}

bool reads(const Value& value, const Value& memory) {
  return overlap(value, memory) ||
         std::ranges::any_of(value.parts(), [&](const Value& part) { return reads(part, memory); });
}

bool changes_inputs(std::span<const Value* const> inputs, std::span<const Value> outputs) {
  const auto is_read = [&](const Value& output) {
    return std::ranges::any_of(
        inputs, [&](const Value* input) { return input != nullptr && reads(*input, output); });
  };
  return std::ranges::any_of(outputs, is_read);
}

Status copy_elements(const Value& from, Value& to) {
  const bool is_like = is_numeric_tensor(from) && is_numeric_tensor(to) &&
                       from.element_type() == to.element_type() && from.shape() == to.shape();
  if (!is_like) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("cannot copy the elements of {} to {}; both must be tensors of numbers "
                            "with the same type and shape",
                            describe_value(view_of(from)), describe_value(view_of(to))));
  }
  const std::byte* const source = from.extent().data();
  std::byte* const target = to.extent().data();
  const uint64_t size = from.extent().size();
  if (size == 0 || (source == target && share_memory(from, to))) return Status::ok_status();
  if (from.memory() != nullptr && to.memory() != nullptr) {
    return copy_between(*from.memory(), source, *to.memory(), target, size);
  }
  if (from.memory() != nullptr) {
    return from.memory()->device->copy(kHostMemory, target, from.memory()->number, source, size,
                                       kWhat);
  }
  if (to.memory() != nullptr) {
    return to.memory()->device->copy(to.memory()->number, target, kHostMemory, source, size, kWhat);
  }
  std::memmove(target, source, size);
  return Status::ok_status();
}

Result<Value> to_host(const Value& value) {
  return value.memory() == nullptr ? value : copy_to_host(value);
}

Result<Value> copy_to_host(const Value& value) {
  if (!is_numeric_tensor(value)) return value;
  EPHOST_ASSIGN_OR_RETURN(Value copy, ValueAccess::allocate(value.element_type(), value.shape()));
  EPHOST_RETURN_IF_ERROR(copy_elements(value, copy));
  return copy;
}

Result<Value> to_device(const Value& value, const bridge::DeviceMemory& memory) {
  if (value.kind() != ValueKind::kTensor) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("cannot copy {} to the memory of a device; only tensors lie there",
                            describe_value(view_of(value))));
  }
  EPHOST_ASSIGN_OR_RETURN(Value copy, allocate_on(memory, value.element_type(), value.shape()));
  EPHOST_RETURN_IF_ERROR(copy_elements(value, copy));
  return copy;
}

}  // namespace ephost::runtime
