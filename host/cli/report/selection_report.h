// Selections in the reports of commands: what they choose, and what is wrong with them.
#pragma once

#include <ephost/types/selection_report.h>

#include <filesystem>
#include <string>

#include "host/cli/arguments/defaults.h"
#include "host/cli/report/json.h"

namespace ephost::cli {

// {"file", "origin", "providers", "session", "findings"}.
[[nodiscard]] Json selection_json(const SelectionFile& file, const SelectionReport& report);

// The providers as a table; how many entries the session gets.
[[nodiscard]] std::string providers_text(const SelectionReport& report);

// A line "file:line:column: message" for each finding.
[[nodiscard]] std::string findings_text(const std::filesystem::path& file,
                                        const SelectionReport& report);

}  // namespace ephost::cli
