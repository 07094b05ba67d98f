// Values of options that a manifest declares.
#pragma once

#include <string>
#include <vector>

#include "host/manifest/options.h"

namespace ephost::conformance {

// Whether a provider may be created with it.
[[nodiscard]] inline bool is_for_creation(const manifest::OptionSpec& option) {
  return option.scope != manifest::OptionScope::kRun;
}

// Values to try: those at the limits, and the default.
[[nodiscard]] std::vector<std::string> values_to_try(const manifest::OptionSpec& option);

}  // namespace ephost::conformance
