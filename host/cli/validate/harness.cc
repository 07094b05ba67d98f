#include "host/cli/validate/harness.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "host/base/files/folders/temporary_folder.h"
#include "host/base/format.h"
#include "host/base/processes/waiting.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/validate/child.h"

namespace ephost::cli {
namespace {

struct RunningCheck {
  size_t index = 0;  // of the check
  TemporaryFolder scratch;
  Child child;
};

// The last line that is not empty, which is the crash handler's after a crash.
std::string last_line(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const size_t newline = text.rfind('\n');
  if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
  constexpr size_t kLongest = 600;
  return std::string(text.substr(0, kLongest));
}

// What is wrong with how the process ended; empty if nothing is.
std::string ending_problem(const KitCheck& check, const ChildEnd& end, bool has_answer) {
  if (end.is_late) {
    return formatted("the check was still busy after {} s, and was ended", check.deadline.count());
  }
  if (end.process.signal != 0) {
    return "the process ended by " + signal_text(end.process.signal);
  }
  if (end.process.is_success() && has_answer) return {};
  return formatted("the process ended with status {}{}", end.process.status,
                   has_answer ? " after the check" : " in the middle of the check");
}

CheckResult read_result(const KitCheck& check, const ChildEnd& end) {
  CheckResult result{.check = check, .seconds = end.duration.count(), .output = end.output};
  const Json answer = Json::parse(end.answer);
  for (const Json& finding : answer.member("findings").elements()) {
    result.findings.push_back({finding.member("what").string(), finding.member("advice").string()});
  }
  for (const Json& figure : answer.member("figures").elements()) {
    result.figures.push_back({figure.member("name").string(), figure.member("value").number()});
  }
  result.reason = answer.member("left_out").string();
  if (std::string problem = ending_problem(check, end, !answer.is_null()); !problem.empty()) {
    const std::string line = last_line(end.output);
    if (!line.empty()) problem += "; the last line of its output: " + line;
    result.findings.push_back(
        {std::move(problem), "run it alone with --output-on-failure, or in a debugger"});
  }
  if (end.left_processes) {
    result.findings.push_back({"processes that the plugin started were still there afterwards",
                               "end and wait for every process that the plugin starts"});
  }
  if (!result.findings.empty()) {
    result.outcome = CheckOutcome::kFailed;
    result.reason.clear();
  } else if (!result.reason.empty()) {
    result.outcome = CheckOutcome::kLeftOut;
  }
  return result;
}

void apply_exclusions(const std::vector<Exclusion>& exclusions, CheckResult& result) {
  const auto found = std::ranges::find(exclusions, result.check.id, &Exclusion::check);
  if (found == exclusions.end()) return;
  if (result.outcome == CheckOutcome::kFailed) {
    result.outcome = CheckOutcome::kExcluded;
    result.reason = found->reason;
  } else if (result.outcome == CheckOutcome::kPassed && !found->is_optional) {
    result.outcome = CheckOutcome::kFailed;
    result.findings.push_back(
        {formatted("the check passes, although it is excluded: {}", found->reason),
         "take it out of the exclusions, or say \"optional: true\" there if it fails at times "
         "only"});
  }
}

// The word as a shell reads it.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

class Harness {
 public:
  Harness(const Kit& kit, const KitPlugin& plugin, const std::vector<KitCheck>& checks,
          const HarnessOptions& options)
      : kit_(kit), plugin_(plugin), checks_(checks), options_(options) {
    for (const KitCheck& check : checks) {
      results_.push_back({.check = check,
                          .outcome = CheckOutcome::kNotRun,
                          .reason = "interrupted before the check ended"});
    }
  }

  [[nodiscard]] bool is_done() const { return next_ == checks_.size() && running_.empty(); }
  std::vector<CheckResult>& results() { return results_; }

  Status start_more(const std::function<void(std::string)>& say) {
    while (next_ < checks_.size() && running_.size() < options_.jobs) {
      const KitCheck& check = checks_[next_];
      say(formatted("checking {}: {} {}", plugin_.name, check.id, check.name));
      EPHOST_ASSIGN_OR_RETURN(TemporaryFolder scratch, TemporaryFolder::create());
      EPHOST_ASSIGN_OR_RETURN(
          Child child, Child::start(command_line(check, scratch), scratch.path(), check.deadline));
      running_.push_back({next_++, std::move(scratch), std::move(child)});
    }
    return Status::ok_status();
  }

  void wait_a_little() const {
    std::vector<int> watched;
    for (const RunningCheck& one : running_) one.child.watch(watched);
    wait_a_moment(watched, std::chrono::milliseconds(5));
  }

  void collect() {
    std::vector<RunningCheck> still;
    for (RunningCheck& one : running_) {
      const std::optional<ChildEnd> end = one.child.update();
      if (end) {
        results_[one.index] = read_result(checks_[one.index], *end);
      } else {
        still.push_back(std::move(one));
      }
    }
    running_ = std::move(still);
  }

 private:
  [[nodiscard]] std::vector<std::string> command_line(const KitCheck& check,
                                                      const TemporaryFolder& scratch) const {
    std::vector<std::string> words = {kit_.program().native(),
                                      "check",
                                      check.id,
                                      "--manifest",
                                      plugin_.manifest.native(),
                                      "--provider",
                                      plugin_.name,
                                      "--data",
                                      options_.data.native(),
                                      "--scratch",
                                      scratch.path().native(),
                                      "--level",
                                      options_.level,
                                      "--seed",
                                      std::to_string(options_.seed),
                                      "--isolation",
                                      options_.isolation,
                                      "--time-factor",
                                      std::to_string(options_.time_factor),
                                      "--answer",
                                      "3"};
    for (const auto& path : options_.plugin_paths) {
      words.insert(words.end(), {"--plugin-path", path.native()});
    }
    return words;
  }

  const Kit& kit_;
  const KitPlugin& plugin_;
  const std::vector<KitCheck>& checks_;
  const HarnessOptions& options_;
  size_t next_ = 0;
  std::vector<RunningCheck> running_;
  std::vector<CheckResult> results_;
};

}  // namespace

std::string_view outcome_name(CheckOutcome outcome) {
  constexpr std::array<std::string_view, 5> kNames = {"passed", "failed", "left out", "excluded",
                                                      "not run"};
  return kNames.at(static_cast<size_t>(outcome));
}

size_t PluginResults::count(CheckOutcome outcome) const {
  return static_cast<size_t>(std::ranges::count(results, outcome, &CheckResult::outcome));
}

std::string counts_text(const PluginResults& results) {
  std::string text;
  for (const CheckOutcome outcome : {CheckOutcome::kPassed, CheckOutcome::kFailed,
                                     CheckOutcome::kLeftOut, CheckOutcome::kExcluded}) {
    text += formatted("{}{} {}", text.empty() ? "" : ", ", results.count(outcome),
                      outcome_name(outcome));
  }
  if (!results.was_interrupted()) return text;
  return text + formatted(", {} not run (interrupted)", results.count(CheckOutcome::kNotRun));
}

std::string how_to_reproduce(const PluginResults& results, const KitCheck& check) {
  std::string line = formatted("ephost validate {} --check {} --level {} --reproduce {}",
                               shell_word(results.plugin.manifest.native()), check.id,
                               results.level, results.seed);
  for (const std::string& word : results.stated) line += " " + shell_word(word);
  return line;
}

Result<PluginResults> run_checks(const Kit& kit, const KitPlugin& plugin,
                                 const std::vector<KitCheck>& checks,
                                 const std::vector<Exclusion>& exclusions,
                                 const HarnessOptions& options,
                                 const std::atomic<bool>& interrupted,
                                 const std::function<void(std::string)>& say) {
  const auto begin = std::chrono::steady_clock::now();
  const OrphanKeeper keeper;
  Harness harness(kit, plugin, checks, options);
  while (!harness.is_done() && !interrupted) {
    EPHOST_RETURN_IF_ERROR(harness.start_more(say));
    harness.wait_a_little();
    harness.collect();
  }
  PluginResults results{plugin, options.level, options.seed, options.stated,
                        std::move(harness.results())};
  for (CheckResult& result : results.results) apply_exclusions(exclusions, result);
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return results;
}

}  // namespace ephost::cli
