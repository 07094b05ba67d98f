// Messages of the program to the command that started it, as JSON.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// {"checks": [{"id": "27.3", "rule": 27, "rule_title": "...", "name": "...", "title": "...",
// "level": "basic", "deadline_seconds": 60}, ...]}.
[[nodiscard]] std::string list_json();

// {"findings": [{"what": "...", "advice": "..."}], "left_out": "", "figures": [{"name": "...",
// "value": 1}]}.
[[nodiscard]] std::string report_json(const Report& report);

// {"plugins": [{"manifest": "...", "provider": "...", "name": "dnnl", "version": "..."}]} for a
// manifest, or for every one directly in a folder. NO_SUCHFILE where there is none,
// INVALID_ARGUMENT for one that is not valid.
[[nodiscard]] Result<std::string> plugins_json(const std::filesystem::path& path);

// {"exclusions": [{"check": "27.3", "reason": "...", "optional": false}]} of an exclusions file,
// whose checks must exist; INVALID_ARGUMENT with its place for what is wrong with it.
[[nodiscard]] Result<std::string> exclusions_json(const std::filesystem::path& file);

// {"error": {"code": 2, "message": "..."}}.
[[nodiscard]] std::string error_json(const Status& status);

// "27.3".
[[nodiscard]] std::string id_of(const Check& check);

}  // namespace ephost::conformance
