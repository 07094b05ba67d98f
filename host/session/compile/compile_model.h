// The compilation of a model to a context model (<ephost/compile_model.h>).
#pragma once

#include <ephost/status.h>
#include <ephost/types/compilation.h>

#include <filesystem>

#include "host/session/config/given_options.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

[[nodiscard]] std::filesystem::path default_context_model_path(const std::filesystem::path& model);

[[nodiscard]] Result<CompileReport> compile_model(EnvironmentState& environment,
                                                  const GivenOptions& options,
                                                  const ModelCompilationOptions& compilation);

}  // namespace ephost::session
