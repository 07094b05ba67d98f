// `ephost test DIR...`: runs ONNX backend tests and lists those that fail or are skipped, and why.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/arguments/interrupt.h"
#include "host/cli/backend_test/backend_test.h"
#include "host/cli/backend_test/skip_list.h"
#include "host/cli/options/metrics_file.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/report.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct TestFlags {
  SessionFlags session;
  ReportFlags report;
  std::vector<std::filesystem::path> folders;
  std::filesystem::path skip_list;
  bool skip_unsupported = false;
  bool require_all = false;
  Tolerance tolerance;
  uint32_t jobs = 1;
};

enum class Outcome {
  kPassed,
  kFailed,
  kSkipped,
  kNotRun  // the command was interrupted before the test ended
};

struct TestResult {
  std::string name;
  Outcome outcome = Outcome::kNotRun;
  std::string reason;  // of a failure or skip
  NodeCounts nodes;
  std::set<std::string> want_shapes;  // providers that would take nodes if shapes were fixed
};

struct Totals {
  uint64_t passed = 0;
  uint64_t failed = 0;
  uint64_t skipped = 0;
  uint64_t not_run = 0;
  NodeCounts nodes;  // of all tests
  std::set<std::string> want_shapes;
};

// The entry for a test: by its name, or by the last part of it.
const SkipList::value_type* find_entry(const SkipList& list, const std::string& name) {
  auto entry = list.find(name);
  if (entry == list.end()) entry = list.find(name.substr(name.rfind('/') + 1));
  return entry == list.end() ? nullptr : &*entry;
}

// Listed tests run as well, so that an entry whose reason is gone is noticed.
TestResult judge(const std::string& name, const Status& status, const SkipList& list,
                 bool skip_unsupported) {
  const auto* entry = find_entry(list, name);
  if (status.ok()) {
    if (entry == nullptr || entry->second.may_pass)
      return {.name = name, .outcome = Outcome::kPassed};
    return {
        .name = name,
        .outcome = Outcome::kFailed,
        .reason = formatted("it passes, although the skip list says {}; remove it from the list",
                            quote(entry->second.text))};
  }
  if (entry != nullptr) {
    return {.name = name, .outcome = Outcome::kSkipped, .reason = entry->second.text};
  }
  const bool unsupported = status.code() == StatusCode::kNotImplemented;
  return {.name = name,
          .outcome = unsupported && skip_unsupported ? Outcome::kSkipped : Outcome::kFailed,
          .reason = status.to_string()};
}

// Which providers a test may use: those of the command line, or by default those of every session,
// and where they lack an operator, all that are installed.
struct TestOptions {
  SessionOptions first;
  std::optional<SessionOptions> with_all_installed;
};

// The CPU provider is asked first, so that the others get only what it lacks.
std::optional<SessionOptions> options_with_all_installed(const Environment& environment,
                                                         const TestFlags& flags,
                                                         const SessionOptions& options) {
  const SessionFlags& session = flags.session;
  if (!session.providers.empty() || !session.policy.empty()) return std::nullopt;
  if (!selection_of(session).path.empty()) return std::nullopt;
  std::set<std::string> asked;
  for (const ProviderRequest& request : options.providers()) asked.insert(request.name);
  SessionOptions all = options;
  if (asked.emplace(kCpuProvider).second) all.append_execution_provider(std::string(kCpuProvider));
  bool has_others = false;
  for (const InstalledPlugin& plugin : environment.plugins()) {
    if (plugin.provider.empty() || !environment.check_loadable(plugin).ok()) continue;
    if (!asked.insert(plugin.provider).second) continue;
    all.append_execution_provider(plugin.provider);
    has_others = true;
  }
  return has_others ? std::optional(std::move(all)) : std::nullopt;
}

BackendTestRun run_one_test(const Environment& environment, const TestOptions& options,
                            const BackendTest& test, const BackendTestOptions& how) {
  BackendTestRun run = run_backend_test(environment, options.first, test, how);
  if (run.status.code() != StatusCode::kNotImplemented || !options.with_all_installed) return run;
  BackendTestRun with_all = run_backend_test(environment, *options.with_all_installed, test, how);
  // Where an installed plugin is in the way, what the test lacks says more.
  return std::move(with_all.status.code() == StatusCode::kEpFail ? run : with_all);
}

// An exception that leaves a worker thread would end the process.
BackendTestRun run_guarded(const Environment& environment, const TestOptions& options,
                           const BackendTest& test, const BackendTestOptions& how) {
  try {
    return run_one_test(environment, options, test, how);
  } catch (const std::exception& error) {
    return {.status = Status(StatusCode::kFail, error.what())};
  }
}

std::vector<TestResult> run_tests(const Environment& environment, const TestOptions& options,
                                  const std::vector<BackendTest>& tests, const SkipList& list,
                                  std::span<const std::string> asked, const TestFlags& flags,
                                  const std::atomic<bool>& interrupted) {
  std::vector<TestResult> results(tests.size());
  for (size_t i = 0; i < tests.size(); ++i) results[i].name = tests[i].name;
  std::atomic<size_t> next{0};
  // The first session stays, so that plugins are not loaded again for each test, which takes longer
  // than most tests do.
  std::mutex mutex;
  std::optional<Session> keeper;
  Activity activity("testing", flags.report.shows_progress());
  const auto work = [&] {
    for (size_t i = next++; i < tests.size() && !interrupted; i = next++) {
      activity.update(formatted("testing {} of {}: {}", i + 1, tests.size(), tests[i].name));
      BackendTestRun run =
          run_guarded(environment, options, tests[i], {flags.tolerance, &interrupted});
      if (!run.status.ok() && interrupted) return;  // what failed is the interruption
      if (run.status.ok() && flags.require_all) run.status = check_all_run_on(run.nodes, asked);
      results[i] = judge(tests[i].name, run.status, list, flags.skip_unsupported);
      results[i].nodes = std::move(run.nodes);
      results[i].want_shapes = std::move(run.want_shapes);
      const std::lock_guard lock(mutex);
      if (!keeper) keeper = std::move(run.session);
    }
  };
  std::vector<std::jthread> threads;
  const size_t jobs = std::min<size_t>(flags.jobs, tests.size());
  for (size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return results;
}

void warn_about_unknown_entries(const SkipList& list, const std::vector<BackendTest>& tests) {
  for (const auto& [name, reason] : list) {
    const bool known =
        std::ranges::any_of(tests, [&list, name = std::string_view(name)](const BackendTest& test) {
          const auto* entry = find_entry(list, test.name);
          return entry != nullptr && entry->first == name;
        });
    if (!known)
      log_warning(formatted("the skip list names {}, which is not among the tests", quote(name)));
  }
}

Totals count_outcomes(const std::vector<TestResult>& results) {
  Totals totals;
  for (const TestResult& result : results) {
    for (const auto& [provider, nodes] : result.nodes) totals.nodes[provider] += nodes;
    totals.want_shapes.insert(result.want_shapes.begin(), result.want_shapes.end());
    switch (result.outcome) {
      case Outcome::kPassed:
        ++totals.passed;
        break;
      case Outcome::kFailed:
        ++totals.failed;
        break;
      case Outcome::kSkipped:
        ++totals.skipped;
        break;
      case Outcome::kNotRun:
        ++totals.not_run;
        break;
    }
  }
  return totals;
}

std::string_view test_outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "PASS";
    case Outcome::kFailed:
      return "FAIL";
    case Outcome::kSkipped:
      return "SKIP";
    default:
      return "NOT RUN";
  }
}

Json to_json(const NodeCounts& nodes) {
  Json json = Json::object();
  for (const auto& [provider, count] : nodes) json.set(provider, count);
  return json;
}

Json to_json(const std::vector<TestResult>& results, const Totals& totals,
             const std::vector<std::string>& notes) {
  Json tests = Json::array();
  for (const TestResult& result : results) {
    Json json = {{"name", result.name},
                 {"outcome", ascii_lower(test_outcome_name(result.outcome))},
                 {"nodes", to_json(result.nodes)}};
    if (!result.reason.empty()) json.set("reason", result.reason);
    tests.push_back(std::move(json));
  }
  return {{"passed", totals.passed},
          {"failed", totals.failed},
          {"skipped", totals.skipped},
          {"not_run", totals.not_run},
          {"interrupted", totals.not_run > 0},
          {"nodes", to_json(totals.nodes)},
          {"notes", notes},
          {"tests", tests}};
}

std::string to_lines(const std::vector<TestResult>& results, const Totals& totals,
                     const std::vector<std::string>& notes, bool verbose) {
  std::string text;
  for (const TestResult& result : results) {
    if (result.outcome == Outcome::kPassed && !verbose) continue;
    if (result.outcome == Outcome::kNotRun) continue;  // the totals count them
    std::string line = formatted("{} {}", test_outcome_name(result.outcome), result.name);
    if (verbose && !result.nodes.empty()) line += formatted(" ({})", to_text(result.nodes));
    if (!result.reason.empty()) line += ": " + result.reason;
    std::ranges::replace(line, '\n', ' ');
    text += printable(line) + "\n";
  }
  text += formatted("nodes: {}\n{} passed, {} failed, {} skipped", to_text(totals.nodes),
                    totals.passed, totals.failed, totals.skipped);
  if (totals.not_run > 0) text += formatted(", {} not run (interrupted)", totals.not_run);
  text += "\n";
  for (const std::string& note : notes) text += formatted("note: {}\n", note);
  return text;
}

// The providers that were asked for but ran nothing. The CPU provider takes what others leave, so
// that it may run nothing beside them.
std::vector<std::string> unused_providers(std::span<const std::string> asked,
                                          const NodeCounts& nodes) {
  std::vector<std::string> unused;
  for (const std::string& provider : asked) {
    if (provider == kCpuProvider && asked.size() > 1) continue;
    if (!nodes.contains(provider)) unused.push_back(provider);
  }
  return unused;
}

// FAIL if some of these would not run a node whatever the shapes were.
Status check_used(const std::vector<std::string>& unused, const Totals& totals) {
  std::vector<std::string_view> names;
  for (const std::string& name : unused) {
    if (!totals.want_shapes.contains(name)) names.push_back(name);
  }
  if (names.empty()) return Status::ok_status();
  return Status(StatusCode::kFail,
                formatted("{} ran no node of any test, although asked for; \"ephost partition "
                          "--explain\" says why",
                          join(names, ", ")));
}

std::vector<std::string> unused_notes(const std::vector<std::string>& unused,
                                      const Totals& totals) {
  std::vector<std::string> notes;
  for (const std::string& name : unused) {
    if (totals.want_shapes.contains(name)) notes.push_back(open_shapes_note(name));
  }
  return notes;
}

Result<SkipList> read_skip_list(const std::filesystem::path& file) {
  if (file.empty()) return SkipList();
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(file));
  return parse_skip_list(text, file.native());
}

Result<int> run(const TestFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const SkipList list, read_skip_list(flags.skip_list));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<BackendTest> tests, find_backend_tests(flags.folders));
  warn_about_unknown_entries(list, tests);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  const std::vector<std::string> asked = asked_providers(environment, flags.session, options);
  if (flags.require_all && asked.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "--require-all needs a provider to require; name it with --ep");
  }
  const Interrupt interrupt;
  options.set_load_cancellation_flag(interrupt.flag());
  const TestOptions with{options, options_with_all_installed(environment, flags, options)};
  const std::vector<TestResult> results =
      run_tests(environment, with, tests, list, asked, flags, *interrupt.flag());
  const Totals totals = count_outcomes(results);
  const std::vector<std::string> unused = unused_providers(asked, totals.nodes);
  const std::vector<std::string> notes = unused_notes(unused, totals);
  print(flags.report.json() ? to_text(to_json(results, totals, notes))
                            : to_lines(results, totals, notes, flags.report.verbose));
  if (*interrupt.flag()) {
    return Status(StatusCode::kCancelled,
                  "the tests were interrupted; the report has those that had ended by then");
  }
  if (totals.failed > 0) return kExitFailure;
  const Status used = check_used(unused, totals);
  if (used.ok()) return notes.empty() ? kExitSuccess : kExitOpenShapes;
  print_error(used, kExitFailure);
  return kExitFailure;
}

}  // namespace

Command add_test(ArgumentParser& root) {
  auto flags = std::make_shared<TestFlags>();
  ArgumentParser app = root.add_subcommand("test", "Run ONNX backend test folders");
  app.add("DIR", flags->folders, "Folders with tests, at any depth").type_name("PATH").required();
  app.add("--rtol", flags->tolerance.relative, "Relative tolerance for floating-point numbers")
      .not_negative()
      .show_default();
  app.add("--atol", flags->tolerance.absolute, "Absolute tolerance for floating-point numbers")
      .not_negative()
      .show_default();
  app.add(
         "--skip-list", flags->skip_list,
         "File of tests that may fail, one \"name: reason\" a line; such a test must not pass, but "
         "for a \"name?: reason\"")
      .type_name("FILE");
  app.add_flag("--skip-unsupported", flags->skip_unsupported,
               "Count tests that end with NOT_IMPLEMENTED as skipped, not as failed");
  app.add_flag("--require-all", flags->require_all,
               "Fail each test of which a node runs on no provider of --ep or --selection");
  app.add("-j,--jobs", flags->jobs, "Number of tests to run at the same time")
      .type_name("N")
      .positive()
      .show_default();
  add_session_flags(app, flags->session);
  add_execution_flags(app, flags->session);
  add_report_flags(app, flags->report);
  add_metrics_flag(app, flags->session.environment);
  return {app, [flags] {
            return with_metrics_file(flags->session.environment, [&] { return run(*flags); });
          }};
}

}  // namespace ephost::cli
