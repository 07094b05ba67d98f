// Writes a context model once more, under other names: what compile_model does with a model whose
// contexts come from the cache store. Nothing is compiled; payloads go to the output as they are.
#pragma once

#include <ephost/compile_model.h>
#include <ephost/status.h>

#include <vector>

#include "host/context/write/writer.h"
#include "host/session/pipeline/pipeline.h"

namespace ephost::session {

// The partitions behind the model's EPContext nodes, in the order in which they are written. How
// many nodes they were made of is not known here.
[[nodiscard]] std::vector<CompiledPartition> cached_partitions(const PreparedModel& prepared);

// `prepared` is compiled, and its providers accept all its nodes.
[[nodiscard]] Result<context::WrittenContext> rewrite_context(context::ContextWriter writer,
                                                              const PreparedModel& prepared);

}  // namespace ephost::session
