// Inputs and outputs of a run that lie in the memory of devices. Where a step would copy a value
// there or from there, nothing passes through host memory; elsewhere it is copied before the run,
// or after it.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/device_ends.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/program.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// Only `place` may be called by steps.
class DeviceBindings {
 public:
  // Borrows all.
  DeviceBindings(const Program& program, ValueTable& values, const FrameMemory& memory)
      : program_(program), values_(values), memory_(memory) {}
  DeviceBindings(const DeviceBindings&) = delete;
  DeviceBindings& operator=(const DeviceBindings&) = delete;

  // The view that steps get of a tensor on a device. Fails as copying it to host memory fails.
  [[nodiscard]] Result<eph_value> view_input(size_t index, const Value& value);
  // The input has been bound to that view.
  void bind_input(size_t index, const eph_value& view);

  // Replaces the values of outputs that steps cannot make on the device by empty ones. They come
  // back with `collect`, or in `end_run`.
  void take_aside(std::span<Value> outputs);
  // What comes before an output on the device is made in the memory of its value, where it can be.
  void bind_output(size_t index, const Value& value);
  // By which the provider knows the memory of an output on the device.
  [[nodiscard]] uint32_t memory_of(size_t output) const;
  // Where a value of that size is made if it is open; null if nothing was bound for it.
  [[nodiscard]] std::byte* place(graph::ValueId id, uint64_t bytes) const;
  // Copies what was made in host memory for outputs that lie on a device.
  [[nodiscard]] Status collect(std::span<Value> outputs);

  void end_run(std::span<Value> outputs);

 private:
  // The end of an input or output that can lie in the memory of `value`; null if it cannot.
  [[nodiscard]] const DeviceEnd* find_end(std::span<const DeviceEnd> ends, size_t index,
                                          const Value& value) const;
  [[nodiscard]] uint32_t memory_of(const DeviceEnd& end) const {
    return program_.memory_at(program_.allocation().values[end.on_device].location);
  }
  [[nodiscard]] eph_value view_on(const DeviceEnd& end, const Value& value) const;
  void put_back(graph::ValueId id);

  const Program& program_;
  ValueTable& values_;
  const FrameMemory& memory_;
  std::vector<Value> staged_;          // copies of inputs in host memory
  std::vector<graph::ValueId> moved_;  // values of known size that lie in the application's memory
  std::vector<std::pair<graph::ValueId, std::span<std::byte>>> places_;  // for those of other sizes
  std::vector<std::pair<size_t, Value>> aside_;                          // by graph output
};

}  // namespace ephost::runtime
