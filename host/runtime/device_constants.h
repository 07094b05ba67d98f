// Constants in the memory of devices. They are copied there when a program is made; a large one
// lies there once for all programs of this process that have it: those of specialisations, of
// bodies, and of other sessions.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/runtime/device_memory.h"

namespace ephost::runtime {

// The constants of a graph that its steps read from device memory.
class DeviceConstants {
 public:
  // Copies those that are not there yet. A provider's failure is passed on with the name of the
  // value.
  static Result<DeviceConstants> create(const graph::Graph& graph,
                                        const plan::AllocationPlan& allocation,
                                        std::span<const DeviceLocation> devices);

  // The address of each, by value id.
  [[nodiscard]] const std::map<graph::ValueId, std::byte*>& data() const { return data_; }

 private:
  std::vector<bridge::DeviceBlock> blocks_;  // one for the small constants of each location
  std::vector<std::shared_ptr<const bridge::DeviceBlock>> shared_;  // one for each large constant
  std::map<graph::ValueId, std::byte*> data_;
};

}  // namespace ephost::runtime
