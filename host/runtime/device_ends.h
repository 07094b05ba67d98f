// Graph inputs and outputs that may lie in the memory of a device during a run, because the only
// step that uses them copies them there or from there.
#pragma once

#include <vector>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::runtime {

struct DeviceEnd {
  // The value on the device that an input is copied to, or an output from; kNoValue: it lies in
  // host memory in every run.
  graph::ValueId on_device = graph::kNoValue;
  // Whether nothing else lies in its buffer, so that it may be the application's value itself.
  // Otherwise the copy takes place, on the device.
  bool is_alone = false;
};

struct DeviceEnds {
  std::vector<DeviceEnd> inputs;  // by graph input; empty without devices
  std::vector<DeviceEnd> outputs;
};

[[nodiscard]] DeviceEnds find_device_ends(const graph::Graph& graph,
                                          const plan::ExecutionPlan& execution,
                                          const plan::AllocationPlan& allocation);

}  // namespace ephost::runtime
