// The results of runs: those that operators define, and the same ones again.
#include "host/conformance/sessions/results.h"

#include <utility>

#include "host/base/format.h"
#include "host/conformance/runs/run_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/samples.h"
#include "host/manifest/manifest.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

constexpr const char* kWrongResultAdvice =
    "compare with the operator's definition, or leave the node to another provider";
constexpr const char* kFailedRunAdvice =
    "what the provider claims has to run; what it cannot run it leaves alone";

// Runs the model of a sample on all its inputs and judges the results, and what the layer
// `validate` finds if there is a guard.
class Runner {
 public:
  Runner(const Bench& bench, Report& report) : Runner(bench, report, "", bench.options()) {}
  Runner(const Bench& bench, Report& report, std::string_view guard)
      : Runner(bench, report, guard, bench.guarded(guard)) {}

  // False if the provider takes no node of the model.
  bool run(const Sample& sample) {
    const bool is_taken = run_in_session(sample);
    bench_.layer_findings().report(sample.name, report_);
    return is_taken;
  }
  [[nodiscard]] bool has_enough() const { return report_.findings().size() >= kMostFindings; }

 private:
  Runner(const Bench& bench, Report& report, std::string_view guard, SessionOptions options)
      : bench_(bench), is_guarded_(!guard.empty()), options_(std::move(options)), report_(report) {}

  // Unless it follows from what the layer has found, which is reported by itself.
  void fail(std::string what, const char* advice) {
    if (bench_.layer_findings().empty()) report_.fail(std::move(what), advice);
  }

  bool run_in_session(const Sample& sample) {
    Result<Session> session = bench_.load(sample.model, options_);
    if (!session.ok()) {
      if (bench_.load(sample.model, Bench::reference()).ok()) {
        fail(formatted("{} has no session: {}", sample.name, session.status().message()),
             kFailedRunAdvice);
      }
      return false;
    }
    if (is_guarded_) judge_fallbacks(sample, *session);
    if (bench_.nodes_of(*session) == 0) return false;
    for (size_t set = 0; set < sample.inputs.size(); ++set) run(sample, set, *session);
    return true;
  }

  // What fails without the layer too is for the checks of claims.
  void judge_fallbacks(const Sample& sample, const Session& session) {
    const std::vector<Fallback> fallbacks = session.fallbacks();
    if (fallbacks.empty()) return;
    const Result<Session> plain = bench_.load(sample.model, bench_.options());
    if (!plain.ok() || plain->fallbacks().size() >= fallbacks.size()) return;
    fail(formatted("{} has nodes that the provider compiles only without the layer validate: {}",
                   sample.name, fallbacks.back().reason.message()),
         "compile in whatever memory the host lends for the time of the call");
  }

  void run(const Sample& sample, size_t set, Session& session) {
    const Result<Values> outputs = session.run(sample.inputs[set]);
    if (!outputs.ok()) {
      if (runs_elsewhere(sample, set)) {
        fail(formatted("{} fails on its inputs {}: {}", sample.name, set,
                       outputs.status().message()),
             kFailedRunAdvice);
      }
      return;
    }
    const auto wrong = sample.find_wrong ? sample.find_wrong(set, *outputs) : std::nullopt;
    if (!wrong || is_wrong_elsewhere(sample, set, *outputs)) return;
    fail(formatted("{} gives a wrong result on its inputs {}: {}", sample.name, set, *wrong),
         kWrongResultAdvice);
  }

  [[nodiscard]] bool runs_elsewhere(const Sample& sample, size_t set) const {
    Result<Session> session = bench_.load(sample.model, Bench::reference());
    return session.ok() && session->run(sample.inputs[set]).ok();
  }
  // Some backend tests expect what no implementation of this version of onnx gives: the CPU
  // provider has the last word.
  [[nodiscard]] bool is_wrong_elsewhere(const Sample& sample, size_t set,
                                        const Values& outputs) const {
    Result<Session> session = bench_.load(sample.model, Bench::reference());
    if (!session.ok()) return false;
    const Result<Values> expected = session->run(sample.inputs[set]);
    return expected.ok() && sample.find_wrong(set, *expected) &&
           !find_difference(outputs, *expected);
  }

  const Bench& bench_;
  const bool is_guarded_;
  const SessionOptions options_;
  Report& report_;
};

void note(Report& report, std::string_view what, uint64_t tried, uint64_t taken) {
  report.note(formatted("{} tried", what), static_cast<double>(tried));
  report.note(formatted("{} taken, at least in part", what), static_cast<double>(taken));
  if (taken == 0) report.leave_out(formatted("the provider takes no node of the {}", what));
}

// Creating a session takes longer in a worker, and a provider may take one model in many: there,
// the search for a first one has no limit of time.
bool still_searches(const Bench& bench, uint64_t taken) {
  return taken == 0 && bench.subject().isolation != "none";
}

void run_backend_tests(const Bench& bench, Runner& runner, milliseconds time, Report& report) {
  const std::vector<BackendTest> tests = backend_tests(bench.subject());
  if (tests.empty()) return report.leave_out("the kit was built without test data");
  const Budget budget(time);
  uint64_t tried = 0;
  uint64_t taken = 0;
  for (const BackendTest& test : tests) {
    if (runner.has_enough() || (budget.is_spent() && !still_searches(bench, taken))) break;
    const Result<std::string> model = read_model(test);
    if (!model.ok()) continue;
    ++tried;
    const Result<Session> session = bench.load(*model, bench.options());
    if (!session.ok() || bench.nodes_of(*session) == 0) continue;
    const Result<Sample> sample = backend_sample(test, *model, *session);
    if (sample.ok() && runner.run(*sample)) ++taken;
  }
  note(report, "backend tests", tried, taken);
}

void run_random_graphs(const Bench& bench, Runner& runner, uint64_t count, milliseconds time,
                       Report& report, Sample (*make)(uint64_t seed) = &random_sample) {
  const Budget budget(time);
  const uint64_t first = bench.subject().seed * 100003 + 1;
  uint64_t tried = 0;
  uint64_t taken = 0;
  for (; tried < count && !runner.has_enough(); ++tried) {
    if (tried >= 3 && budget.is_spent() && !still_searches(bench, taken)) break;
    if (runner.run(make(first + tried))) ++taken;
  }
  note(report, "random graphs", tried, taken);
}

}  // namespace

void check_backend_tests(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Runner runner(*bench, report);
  run_backend_tests(*bench, runner, bench->by_level(milliseconds(800), milliseconds(30'000)),
                    report);
}

void check_guarded_backend_tests(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  // Pages turn what zones report into a crash, so they come second, and only where zones find
  // nothing.
  for (const char* guard : {"zones", "pages"}) {
    if (!report.findings().empty()) return;
    Runner runner(*bench, report, guard);
    run_backend_tests(*bench, runner, bench->by_level(milliseconds(400), milliseconds(30'000)),
                      report);
  }
}

void check_random_graphs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Runner runner(*bench, report);
  run_random_graphs(*bench, runner, bench->by_level<uint64_t>(30, 250),
                    bench->by_level(milliseconds(800), milliseconds(30'000)), report);
}

void check_inner_values(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Runner runner(*bench, report);
  for (const WideKind kind : kWideKinds) runner.run(wide_sample_with_inner_values(*bench, kind));
  run_random_graphs(*bench, runner, bench->by_level<uint64_t>(30, 250),
                    bench->by_level(milliseconds(400), milliseconds(20'000)), report,
                    &random_sample_with_inner_values);
}

void check_guarded_random_graphs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  // Pages turn what zones report into a crash, so they come second, and only where zones find
  // nothing.
  for (const char* guard : {"zones", "pages"}) {
    if (!report.findings().empty()) return;
    Runner runner(*bench, report, guard);
    for (const WideKind kind : kWideKinds) {
      for (const bool is_open : {false, true}) runner.run(wide_sample(kind, is_open));
    }
    run_random_graphs(*bench, runner, bench->by_level<uint64_t>(30, 250),
                      bench->by_level(milliseconds(400), milliseconds(30'000)), report);
  }
}

void check_repeated_runs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(16, 100),
                                 .time = bench->by_level(milliseconds(300), milliseconds(8'000))};
  uint64_t bitwise = 0;
  uint64_t compared = 0;
  for (const Sample& sample : need_samples(*bench, request, report)) {
    Values first;
    for (const char* which : {"first", "second"}) {
      Result<Session> session = bench->load(sample.model, bench->options());
      if (!session.ok()) break;
      for (int run = 0; run < 3; ++run) {
        Result<Values> outputs = session->run(sample.inputs.front());
        if (!outputs.ok()) break;
        if (first.empty()) first = *outputs;
        ++compared;
        bitwise += are_identical(*outputs, first) ? 1 : 0;
        const auto difference = find_difference(*outputs, first);
        if (!difference) continue;
        report.fail(formatted("{}: run {} of the {} session differs from the first run: {}",
                              sample.name, run + 1, which, *difference),
                    "look for memory that is read before it is written, or that keeps what an "
                    "earlier run left");
        break;
      }
    }
  }
  report.note("runs", static_cast<double>(compared));
  report.note("runs with the same bits", static_cast<double>(bitwise));
}

}  // namespace ephost::conformance
