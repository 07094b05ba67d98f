// Order and memory of a prepared model, of all its graphs. Builds with assertions prove each plan.
#pragma once

#include <ephost/session_options.h>
#include <ephost/status.h>

#include <cstdint>
#include <vector>

#include "host/session/pipeline/prepared_model.h"
#include "host/session/session_config.h"

namespace ephost::session {

// After partitioning: PreparedGraph::execution, in the model's order or by priority. What memory
// says about the order is known after compilation only.
[[nodiscard]] Status order_steps(PreparedModel& prepared, StepOrder order);

// After compilation: frees what only compiled partitions read and their providers gave up. The
// host's own memory goes; mapped files are given back by the kernel when it needs the room.
void release_dropped_constants(PreparedModel& prepared);

// The alignment of each location of the model; empty where all is in host memory.
[[nodiscard]] std::vector<uint64_t> alignments_of(const PreparedModel& model);

// After compilation: copies between locations, PreparedGraph::allocation and
// PreparedGraph::pattern. Where memory decides, it brings steps and computations into another order
// first.
[[nodiscard]] Status plan_memory(PreparedModel& prepared, const SessionOptions& options,
                                 StepOrder order);

}  // namespace ephost::session
