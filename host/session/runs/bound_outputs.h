// The outputs of a binding, which stay from run to run: in memory of the caller where that was
// bound, and else in what the first run allocates.
#pragma once

#include <ephost/status.h>
#include <ephost/types/session.h>

#include <cstddef>
#include <span>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/runtime/values/value.h"

namespace ephost::session {

class BoundOutputs {
 public:
  explicit BoundOutputs(size_t count) : values_(count), bound_(count) {}

  // Has the output written to the memory of `value`, or to any if there is none. Text has no memory
  // that can be written.
  void bind(size_t output, runtime::Value value);
  // Has the output made in the memory of a device.
  void bind_on_device(size_t output, const bridge::DeviceMemory& memory);

  // Where a run writes its outputs, until `end_run`. An output in memory that its type does not
  // admit is computed in other memory, and so is one in memory that the run reads (Frame::run).
  // INVALID_ARGUMENT if two outputs are bound to memory in common.
  [[nodiscard]] Result<std::span<runtime::Value>> begin_run(
      std::span<const ValueDescription> outputs);
  // Puts the outputs where they were bound, unless the run failed with `run`, which is then
  // returned. INVALID_ARGUMENT for one whose shape is not that of the memory; it stays bound.
  [[nodiscard]] Status end_run(Status run, std::span<const ValueDescription> outputs);

  // By output; those of the last run.
  [[nodiscard]] const std::vector<runtime::Value>& values() const { return values_; }

 private:
  [[nodiscard]] bool is_bound(size_t output) const { return bound_[output].has_value(); }
  Status check_apart(size_t output, std::span<const ValueDescription> outputs);

  std::vector<runtime::Value> values_;
  std::vector<runtime::Value> bound_;  // empty where nothing is bound
};

}  // namespace ephost::session
