// A check of a selection file without a model, which also tells what the file would choose.
#pragma once

#include <ephost/status.h>
#include <ephost/types/selection_report.h>

#include <filesystem>

#include "host/session/environment/environment.h"

namespace ephost {

// What is wrong with the selection is not an error but a finding in the report. Errors are those of
// reading the file. May be called from any thread.
[[nodiscard]] Result<SelectionReport> check_selection(const Environment& environment,
                                                      const std::filesystem::path& file,
                                                      SelectionCheck depth);

}  // namespace ephost
