// Order and memory of a prepared model, of all its graphs. Builds with assertions prove each plan.
#pragma once

#include <ephost/session_options.h>
#include <ephost/status.h>

#include "host/session/pipeline.h"

namespace ephost::session {

// After partitioning: PreparedGraph::execution.
[[nodiscard]] Status order_steps(PreparedModel& prepared);

// After compilation: frees what only compiled partitions read and their providers gave up. The
// host's own memory goes; mapped files are given back by the kernel when it needs the room.
void release_dropped_constants(PreparedModel& prepared);

// After compilation: PreparedGraph::allocation and PreparedGraph::pattern.
[[nodiscard]] Status plan_memory(PreparedModel& prepared, const SessionOptions& options);

}  // namespace ephost::session
