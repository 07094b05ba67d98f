// The checked options of compile_model: which model is read, and where its context model goes.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <vector>

#include "host/base/cancellation.h"
#include "host/context/write/writer.h"
#include "host/session/compile/compile_model.h"
#include "host/session/config/session_config.h"

namespace ephost::session {

// INVALID_ARGUMENT unless there is one model and one place for the output.
[[nodiscard]] Status check_choices(const ModelCompilationOptions& options);

// The output, without what the environment and the operation add to it. It refers to `options`.
// INVALID_ARGUMENT if there is no name to derive the output's from.
[[nodiscard]] Result<context::WriteOptions> compilation_write_options(
    const ModelCompilationOptions& options, const SessionConfig& config);

// The model that the application reads itself. INVALID_ARGUMENT for more bytes than were asked for;
// otherwise the failures of `read`, unchanged.
[[nodiscard]] Result<std::vector<std::byte>> read_all(const ReadFunction& read,
                                                      const Cancellation& cancellation);

}  // namespace ephost::session
