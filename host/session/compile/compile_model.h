// compile_model turns a model into a context model, which later sessions load without compiling.
#pragma once

#include <ephost/status.h>
#include <ephost/types/compilation.h>

#include <filesystem>

#include "host/session/config/session_options.h"
#include "host/session/environment/environment.h"

namespace ephost {

// Where the context model of a model is written by default: `<model>_ctx.onnx` beside it.
[[nodiscard]] std::filesystem::path default_context_model_path(const std::filesystem::path& model);

// Compiles the partitions of a model and writes the context model, all files together or none.
// INVALID_ARGUMENT for contradictory options or an impossible output, before anything is compiled;
// INVALID_GRAPH if the model is a context model already; CANCELLED and DEADLINE_EXCEEDED when
// cancelled through `options`. The `ep.context_*` entries of `options` are the defaults for what
// `compilation` does not set; `ep.context_enable` is ignored.
[[nodiscard]] Result<CompileReport> compile_model(const Environment& environment,
                                                  const SessionOptions& options,
                                                  const ModelCompilationOptions& compilation);

}  // namespace ephost
