// What the conformance kit has found out about a plugin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/validate/kit.h"

namespace ephost::cli {

enum class CheckOutcome {
  kPassed,
  kFailed,
  kLeftOut,  // it does not apply to this plugin
  kExcluded  // it failed, as the exclusions say that it may
};

// "passed", "failed", "left out", "excluded".
[[nodiscard]] std::string_view outcome_name(CheckOutcome outcome);

struct CheckFinding {
  std::string what;
  std::string advice;
};

struct CheckFigure {
  std::string name;
  double value = 0;
};

struct CheckResult {
  KitCheck check;
  CheckOutcome outcome = CheckOutcome::kPassed;
  std::vector<CheckFinding> findings;
  std::string reason;  // why it was left out, or is excluded
  std::vector<CheckFigure> figures;
  double seconds = 0;
  std::string output;  // what was printed meanwhile
};

struct PluginResults {
  KitPlugin plugin;
  std::string level;  // "basic" or "full"
  uint64_t seed = 0;
  std::vector<std::string> stated;   // options that a check needs to run again as it ran
  std::vector<CheckResult> results;  // in the order of the checks
  double seconds = 0;

  [[nodiscard]] size_t count(CheckOutcome outcome) const;
  [[nodiscard]] bool has_passed() const { return count(CheckOutcome::kFailed) == 0; }
};

// The command line that runs a check again as it ran.
[[nodiscard]] std::string how_to_reproduce(const PluginResults& results, const KitCheck& check);

}  // namespace ephost::cli
