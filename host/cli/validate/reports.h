// The reports of `ephost validate`.
#pragma once

#include <string>
#include <vector>

#include "host/cli/report/json.h"
#include "host/cli/validate/results.h"

namespace ephost::cli {

// A line for each check, by rules, then the failures with what to do about them.
[[nodiscard]] std::string results_text(const PluginResults& results, bool with_output);

[[nodiscard]] Json results_json(const std::vector<PluginResults>& all);

// JUnit's XML: a suite for each plugin, a case for each check, with the rule as its class.
[[nodiscard]] std::string results_junit(const std::vector<PluginResults>& all);

// An HTML page (report/page.h).
[[nodiscard]] std::string results_page(const std::vector<PluginResults>& all);

// The checks themselves, for --list.
[[nodiscard]] std::string checks_text(const std::vector<KitCheck>& checks);
[[nodiscard]] Json checks_json(const std::vector<KitCheck>& checks);

}  // namespace ephost::cli
