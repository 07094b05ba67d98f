// A check of the options that a user gives a provider against those that its manifest declares.
#pragma once

#include <ephost/status.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/manifest/manifest.h"

namespace ephost::manifest {

struct TypedOption {
  std::string name;
  OptionValue value;
  std::string text;  // the value in canonical form: "true", "8", "0.5"
};

using GivenOptions = std::span<const std::pair<std::string, std::string>>;

// The options for a new provider: every one of the manifest with the scope session or dynamic, in
// its order, with the given value or the default; after them, where the manifest leaves its options
// open, those given that it does not declare, as text. Values are parsed by type: int in decimal,
// float as a number, bool as true, false, 1 or 0 in any case. INVALID_ARGUMENT names the provider
// and the option if an option is unknown (with the nearest name), has another scope, is given
// twice, of the wrong type, out of range or not one of the choices.
[[nodiscard]] Result<std::vector<TypedOption>> validate_options(const Manifest& manifest,
                                                                GivenOptions given);
// Likewise the options for one run: those with the scope run.
[[nodiscard]] Result<std::vector<TypedOption>> validate_run_options(const Manifest& manifest,
                                                                    GivenOptions given);
// Likewise changes of options with the scope dynamic: only those given, all of them declared.
[[nodiscard]] Result<std::vector<TypedOption>> validate_option_changes(const Manifest& manifest,
                                                                       GivenOptions given);

}  // namespace ephost::manifest
