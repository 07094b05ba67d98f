// --metrics-file: what a command has counted, as a file for the node exporter's textfile collector.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <functional>

#include "host/cli/arguments/flags.h"

namespace ephost::cli {

// INVALID_ARGUMENT for an existing file that does not begin as one that a command has written, so
// that a model is not replaced by mistake.
[[nodiscard]] Status check_metrics_file(const std::filesystem::path& file);

// Calls `work`, which opens the environment of the flags; afterwards writes the file if there is to
// be one, whether the work has succeeded or failed. A failure to write it is the failure of the
// whole, unless the work has failed too; then it is a warning.
[[nodiscard]] Result<int> with_metrics_file(const EnvironmentFlags& flags,
                                            const std::function<Result<int>()>& work);

}  // namespace ephost::cli
