// The operator of copy steps (host/plan/copies.h): copies a value from one location to another.
#pragma once

#include <memory>
#include <span>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/runtime/device_memory.h"
#include "host/runtime/host_operator.h"

namespace ephost::runtime {

// `node` is a copy between two locations of `allocation`. At least one of them is a device; if both
// are, they belong to the same provider.
[[nodiscard]] std::unique_ptr<HostOperator> make_copy(const graph::Graph& graph,
                                                      const graph::Node& node,
                                                      const plan::AllocationPlan& allocation,
                                                      std::span<const DeviceLocation> devices);

}  // namespace ephost::runtime
