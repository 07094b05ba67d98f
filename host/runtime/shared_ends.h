// Graph inputs and outputs that may be one piece of memory of the application during a run, because
// the only step that uses the input changes it where it is, and makes the output of it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/bridge/computation.h"
#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"
#include "host/runtime/device_ends.h"

namespace ephost::runtime {

struct SharedEnd {
  size_t input = 0;  // of the graph
  size_t output = 0;
  bool is_on_device = false;  // both lie on a device, or both in host memory

  friend bool operator==(const SharedEnd&, const SharedEnd&) = default;
};

[[nodiscard]] std::vector<SharedEnd> find_shared_ends(
    const graph::Graph& graph, const plan::ExecutionPlan& execution,
    const plan::AllocationPlan& allocation,
    std::span<const std::optional<bridge::Computation>> computations, const DeviceEnds& ends);

}  // namespace ephost::runtime
