// Checks the options that a user gives a provider against those that its manifest declares.
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

// Returns every option of the manifest, in its order, with the given value or the default. Values
// are parsed by type: int in decimal, float as a number, bool as true, false, 1 or 0 in any case.
// INVALID_ARGUMENT names the provider and the option if an option is unknown (with the nearest
// name), given twice, of the wrong type, out of range or not one of the choices.
[[nodiscard]] Result<std::vector<TypedOption>> validate_options(
    const Manifest& manifest, std::span<const std::pair<std::string, std::string>> given);

}  // namespace ephost::manifest
