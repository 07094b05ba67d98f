// The operator of copy steps (host/plan/copies.h): one value from one location to another.
#pragma once

#include <memory>
#include <span>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/runtime/device_memory.h"
#include "host/runtime/host_operator.h"

namespace ephost::runtime {

// `node` is a copy between locations of `allocation`, at least one of which is a device's; if both
// are, they have one provider.
[[nodiscard]] std::unique_ptr<HostOperator> make_copy(const graph::Graph& graph,
                                                      const graph::Node& node,
                                                      const plan::AllocationPlan& allocation,
                                                      std::span<const DeviceLocation> devices);

}  // namespace ephost::runtime
