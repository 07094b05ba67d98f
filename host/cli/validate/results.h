// Results of the conformance kit for a plugin.
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
  kLeftOut,   // it does not apply to this plugin
  kExcluded,  // it failed, as the exclusions say that it may
  kNotRun     // the command was interrupted before the check ended
};

// "passed", "failed", "left out", "excluded", "not run".
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
  [[nodiscard]] bool was_interrupted() const { return count(CheckOutcome::kNotRun) > 0; }
  [[nodiscard]] bool has_passed() const { return count(CheckOutcome::kFailed) == 0; }
};

// "7 passed, 0 failed, 2 left out, 0 excluded", and how many were not run if some were not.
[[nodiscard]] std::string counts_text(const PluginResults& results);

// The command line that runs a check again as it ran.
[[nodiscard]] std::string how_to_reproduce(const PluginResults& results, const KitCheck& check);

}  // namespace ephost::cli
