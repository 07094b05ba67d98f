// Pieces of checks in fresh processes.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// Runs a part (checks.h) in a process of its own and returns what it returned. Fails with what the
// process ended with: an exception's text, a signal, an exit, or the deadline. glibc fills the
// memory that it allocates with another byte in each of these processes (mallopt(3), M_PERTURB), so
// that what depends on uninitialised memory differs.
[[nodiscard]] Result<std::string> run_part(const Subject& subject, std::string_view part,
                                           std::span<const std::string> arguments,
                                           std::chrono::seconds deadline);

}  // namespace ephost::conformance
