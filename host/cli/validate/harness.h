// Runner of the checks of the conformance kit, each in a process of its own with a deadline, some
// of them at the same time.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "host/cli/validate/results.h"

namespace ephost::cli {

struct HarnessOptions {
  std::vector<std::filesystem::path> plugin_paths;  // where sessions search in addition
  std::filesystem::path data;
  std::string level = "basic";
  std::string isolation = "none";  // of the sessions of the checks
  uint64_t seed = 0;
  uint32_t time_factor = 1;  // for searches and repetitions
  uint32_t jobs = 2;
  // The arguments of the command line that a check needs to run again as it ran.
  std::vector<std::string> stated;
};

// The results in the order of the checks. An exclusion turns a failure into kExcluded, and a check
// that passes although it is excluded into a failure. `say` is told when a check begins. Setting
// the flag ends all processes; checks that had not ended by then are kNotRun. FAIL where a process
// cannot be started.
[[nodiscard]] Result<PluginResults> run_checks(const Kit& kit, const KitPlugin& plugin,
                                               const std::vector<KitCheck>& checks,
                                               const std::vector<Exclusion>& exclusions,
                                               const HarnessOptions& options,
                                               const std::atomic<bool>& interrupted,
                                               const std::function<void(std::string)>& say);

}  // namespace ephost::cli
