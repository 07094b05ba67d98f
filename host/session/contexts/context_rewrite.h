// A writer of loaded context models under other names. compile_model uses it for a model whose
// contexts come from the cache store. Nothing is compiled; payloads are copied unchanged.
#pragma once

#include <ephost/status.h>
#include <ephost/types/compilation.h>

#include <vector>

#include "host/context/write/writer.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// The partitions of the EPContext nodes of the model, in the order in which they are written. Their
// numbers of nodes are unknown here.
[[nodiscard]] std::vector<CompiledPartition> cached_partitions(const PreparedModel& prepared);

// Requires that `prepared` is compiled and that its providers accept all its nodes.
[[nodiscard]] Result<context::WrittenContext> rewrite_context(context::ContextWriter writer,
                                                              const PreparedModel& prepared);

}  // namespace ephost::session
