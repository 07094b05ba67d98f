// The check of a context model of <ephost/verify_context.h>.
#pragma once

#include <ephost/status.h>
#include <ephost/types/context_report.h>

#include <filesystem>

#include "host/session/environment/environment.h"

namespace ephost::session {

[[nodiscard]] Result<ContextReport> verify_context(EnvironmentState& environment,
                                                   const std::filesystem::path& model,
                                                   const VerifyContextOptions& options = {});

}  // namespace ephost::session
