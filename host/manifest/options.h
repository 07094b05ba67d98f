// Checks the options that a user gave a provider against those that its manifest declares.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/manifest.h"

namespace ephost::manifest {

struct TypedOption {
  std::string name;
  OptionValue value;
  std::string text;  // the value as canonical text: "true", "8", "0.5"
};

// Every option of the manifest once and in its order, with the given value or the default. The
// texts are read by type: int in decimal, float as a number, bool as true, false, 1 or 0 in any
// case. INVALID_ARGUMENT names the provider and the option: unknown (with the nearest), given
// twice, of another type, out of range, none of the choices.
[[nodiscard]] Result<std::vector<TypedOption>> validate_options(
    const Manifest& manifest, std::span<const std::pair<std::string, std::string>> given);

}  // namespace ephost::manifest
