// Names of platforms as manifests write them, "system-architecture", e.g. "linux-x86_64".
#pragma once

#include <string>
#include <string_view>

namespace ephost::manifest {

// The platform that this host was built for.
[[nodiscard]] std::string_view host_platform();

// Why `platform` is no name that a manifest may use, with the remedy; empty when it is one.
[[nodiscard]] std::string platform_problem(std::string_view platform);

}  // namespace ephost::manifest
