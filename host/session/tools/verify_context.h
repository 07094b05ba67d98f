// A check of a context model without running it: its structure, its files and their checksums, and
// whether the installed providers can load it.
#pragma once

#include <ephost/status.h>
#include <ephost/types/context_report.h>

#include <filesystem>

#include "host/session/environment/environment.h"

namespace ephost {

// Errors are those of reading the model; INVALID_ARGUMENT for one without EPContext nodes. What is
// wrong with a context model is not an error but a problem in the report. INVALID_ARGUMENT for a
// `device` that no provider of the model's contexts has. For `requests`, errors are also those of
// creating a session with them. A model that is replaced meanwhile is read again. May be called
// from any thread.
[[nodiscard]] Result<ContextReport> verify_context(const Environment& environment,
                                                   const std::filesystem::path& model,
                                                   const VerifyContextOptions& options = {});

}  // namespace ephost
