// The stage that plans the order of steps and the memory of all graphs of a prepared model. Builds
// with assertions check each plan.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <vector>

#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// Call after partitioning. Fills in PreparedGraph::execution, in the model's order or by priority.
// An order that saves memory can only be found after compilation.
[[nodiscard]] Status order_steps(PreparedModel& prepared, StepOrder order);

// Call after compilation. Releases constants that only compiled partitions read and that their
// providers no longer need. Frees the host's own memory; pages of mapped files are reclaimed by the
// kernel.
void release_dropped_constants(PreparedModel& prepared);

// The alignment of each location for the graph in bytes. Call it while the graph has its
// computations.
[[nodiscard]] std::vector<uint64_t> alignments_of(const PreparedModel& model,
                                                  const PreparedGraph& prepared);

// Call after compilation. Adds copy steps between locations and fills in PreparedGraph::allocation
// and PreparedGraph::pattern. May reorder steps and computations first, if `order` allows it.
[[nodiscard]] Status plan_memory(PreparedModel& prepared, const GivenOptions& options,
                                 StepOrder order);

}  // namespace ephost::session
