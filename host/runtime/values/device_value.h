// Tensors in the memory of a device, which an application makes, or has runs make, and keeps from
// run to run. They keep the device open.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// A tensor with undefined elements; in memory for staging, it is one in host memory.
// INVALID_ARGUMENT for strings and for a shape that none has;
// fails as the device fails.
[[nodiscard]] Result<Value> allocate_on(const bridge::DeviceMemory& memory, ElementType type,
                                        std::vector<int64_t> shape);

// A tensor in memory of others, which `owner` keeps; see Device::import_memory. INVALID_ARGUMENT if
// there is less than the shape needs.
[[nodiscard]] Result<Value> import_on(const bridge::DeviceMemory& memory, const eph_external& from,
                                      ElementType type, std::vector<int64_t> shape,
                                      std::shared_ptr<void> owner);
// What others call the memory of a tensor; see Device::export_memory.
[[nodiscard]] Result<eph_external> export_from(const Value& value, int32_t kind);

// No tensor, but a wish: the output for which it stands is to be made in that memory.
[[nodiscard]] Value wanted_on(const bridge::DeviceMemory& memory);
// The same for the memory of `value`; in host memory an empty value.
[[nodiscard]] Value wanted_like(const Value& value);

// Whether both values lie in one memory, a device's or the host's.
[[nodiscard]] bool share_memory(const Value& a, const Value& b);

// Whether two tensors have bytes in common.
[[nodiscard]] bool overlap(const Value& a, const Value& b);
// Whether `value`, or a part of it, does with `memory`.
[[nodiscard]] bool reads(const Value& value, const Value& memory);
// Whether a run with these inputs, of which some may be null, changes what it reads.
[[nodiscard]] bool changes_inputs(std::span<const Value* const> inputs,
                                  std::span<const Value> outputs);

// Copies all elements of a tensor of numbers to one of the same type and shape, which is
// INVALID_ARGUMENT otherwise. Either lies anywhere; between devices of different plugins the copy
// passes through host memory.
[[nodiscard]] Status copy_elements(const Value& from, Value& to);

// The value in host memory: itself if it is there, else a copy.
[[nodiscard]] Result<Value> to_host(const Value& value);
// A copy in host memory, or in that of a device. Values other than tensors of numbers have host
// memory only, and are shared instead.
[[nodiscard]] Result<Value> copy_to_host(const Value& value);
[[nodiscard]] Result<Value> to_device(const Value& value, const bridge::DeviceMemory& memory);

}  // namespace ephost::runtime
