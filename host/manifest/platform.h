// Platform names as manifests write them, "system-architecture", e.g. "linux-x86_64".
#pragma once

#include <string>
#include <string_view>

namespace ephost::manifest {

// The platform for which this host was built.
[[nodiscard]] std::string_view host_platform();

// Returns why a manifest may not use the name `platform`, with the remedy; empty if it may.
[[nodiscard]] std::string platform_problem(std::string_view platform);

}  // namespace ephost::manifest
