// Saves a model after its graph optimizations as an ONNX file. Called by the pipeline.
#pragma once

#include <ephost/status.h>

#include "host/base/files/operation_files.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// The files that save_optimized_model will write; none unless the configuration asks for it.
// INVALID_ARGUMENT where they conflict with others.
[[nodiscard]] Status add_optimized_model_files(const SessionConfig& config, OperationFiles& files);

// Writes the model as it is now, without what the context cache notes about it, to the path that
// the configuration names. INVALID_GRAPH for a context model; otherwise the errors of
// export_model and of writing files. Each file appears completely or not at all, the model last.
[[nodiscard]] Status save_optimized_model(const PreparedModel& prepared,
                                          const SessionConfig& config);

}  // namespace ephost::session
