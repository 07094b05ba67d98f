// The processor quota of this process: the time that containers and services are given by cgroups,
// versions 1 and 2. A quota says nothing about which processors those are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ephost {

// The least quota of this process's cgroup and those above it, in whole processors and at least 1;
// none without a quota, or if it can't be read. `root` is the folder of the file system, for tests.
[[nodiscard]] std::optional<uint32_t> processor_quota(const std::filesystem::path& root = "/");

}  // namespace ephost
