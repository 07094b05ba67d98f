// campaign.h: a run of cases in processes of their own, so that one that crashes or hangs is a
// result like any other. Call these before the process has threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tests/differential/runs.h"

namespace ephost::test {

struct Tally {
  uint64_t cases = 0;
  uint64_t compiled = 0;  // cases of which the dnnl provider compiled a part
  uint64_t open = 0;      // cases with open extents
  uint64_t failures = 0;
};

// Runs the cases of `count` seeds from `first` on in `jobs` processes. `report` is called in one of
// them with each seed that fails, and the reason.
[[nodiscard]] Tally run_seeds(uint64_t first, uint64_t count, unsigned jobs,
                              const std::filesystem::path& plugins,
                              const std::function<void(uint64_t, const std::string&)>& report);

// Why the case fails in these ways, or nothing.
[[nodiscard]] std::optional<Failure> run_isolated(const Case& tested, const std::vector<Way>& ways,
                                                  const std::filesystem::path& plugins);

}  // namespace ephost::test
