// The check of a selection file of <ephost/check_selection.h>.
#pragma once

#include <ephost/status.h>
#include <ephost/types/selection_report.h>

#include <filesystem>

#include "host/session/environment/environment.h"

namespace ephost::session {

[[nodiscard]] Result<SelectionReport> check_selection(EnvironmentState& environment,
                                                      const std::filesystem::path& file,
                                                      SelectionCheck depth);

}  // namespace ephost::session
