// Storms: the same again and again, while memory, descriptors, threads, mappings and files are
// counted.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/contexts/compiled.h"
#include "host/conformance/lifecycles/lifecycle_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/failing_runs.h"
#include "host/conformance/sessions/samples.h"
#include "host/conformance/support/kept_libraries.h"
#include "host/conformance/support/process_state.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

// Files that a plugin makes for a while, or where it happens to be, are in the scratch folder of
// the check.
class TemporaryFiles {
 public:
  explicit TemporaryFiles(const Subject& subject) : folder_(subject.scratch / "temporary") {
    std::error_code ignored;
    std::filesystem::create_directory(folder_, ignored);
    ::setenv("TMPDIR", folder_.c_str(), 1);
    std::filesystem::current_path(folder_, ignored);
  }
  void judge(Report& report) const {
    std::error_code ignored;
    const auto left = std::distance(std::filesystem::directory_iterator(folder_, ignored), {});
    report.note("temporary files that are left", static_cast<double>(left));
    if (left == 0) return;
    report.fail(formatted("{} files are left in the folder for temporary files, which was the "
                          "working folder too",
                          left),
                "write no files that were not asked for, and remove temporary ones when the "
                "provider is destroyed");
  }

 private:
  const std::filesystem::path folder_;
};

// A third of the rounds that judge_growth makes.
int rounds_of(const Subject& subject) { return subject.level == Level::kFull ? 100 : 7; }

struct Storm {
  Bench bench;
  std::vector<Sample> samples;  // one of fixed extents and one of open ones, where there are both

  // A session that has come into being and runs each set of inputs.
  void run_all(const Sample& sample) const {
    Result<Session> session = bench.load(sample.model, bench.options());
    for (size_t set = 0; session.ok() && set < sample.inputs.size(); ++set) {
      (void)session->run(sample.inputs[set]);
    }
  }
};

std::optional<Storm> prepare_storm(const Subject& subject, Report& report) {
  auto bench = need_bench(subject, report);
  if (!bench) return std::nullopt;
  auto found = need_samples(*bench, {.count = 4, .time = milliseconds(2000)}, report);
  if (found.empty()) return std::nullopt;
  std::vector<Sample> samples;
  for (const bool is_open : {false, true}) {
    const auto one = std::ranges::find(found, is_open, &Sample::has_open_extents);
    if (one != found.end()) samples.push_back(std::move(*one));
  }
  return Storm{std::move(*bench), std::move(samples)};
}

}  // namespace

void check_storm(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare_storm(subject, report);
  if (!storm) return;
  judge_growth(rounds_of(subject), "creating, running and destroying sessions", report, [&] {
    for (const Sample& sample : storm->samples) storm->run_all(sample);
  });
  files.judge(report);
}

void check_storm_without_runs(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare_storm(subject, report);
  if (!storm) return;
  const std::string& model = storm->samples.front().model;
  judge_growth(rounds_of(subject), "creating and destroying a session", report,
               [&] { (void)storm->bench.load(model, storm->bench.options()); });
  files.judge(report);
}

void check_storm_of_failures(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare_storm(subject, report);
  if (!storm) return;
  // The provider has claimed its nodes when the host finds that no provider takes another one.
  onnx::ModelProto model;
  if (!model.ParseFromString(storm->samples.front().model)) return;
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("com.example.nobody");
  opset.set_version(1);
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_domain("com.example.nobody");
  node.set_op_type("Unknown");
  node.add_output("nobody_makes_this");
  model.mutable_graph()->add_output()->set_name("nobody_makes_this");
  const std::string bytes = model.SerializeAsString();
  judge_growth(rounds_of(subject), "failing to create a session", report,
               [&] { (void)storm->bench.load(bytes, storm->bench.options()); });
  files.judge(report);
}

void check_storm_of_runs(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare_storm(subject, report);
  if (!storm) return;
  for (const Sample& sample : storm->samples) {
    Result<Session> session = storm->bench.load(sample.model, storm->bench.options());
    if (!session.ok()) continue;
    judge_growth(rounds_of(subject) * 10, formatted("running {}", sample.name), report, [&] {
      for (const Inputs& inputs : sample.inputs) (void)session->run(inputs);
    });
  }
  files.judge(report);
}

void check_storm_of_failing_runs(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  auto storm = prepare_storm(subject, report);
  if (!storm) return;
  // So long that a run may end within a computation.
  for (const WideKind kind : kWideKinds) {
    storm->samples.push_back(sample_of(kind, {.rows = 512, .columns = 512, .repeats = 2}));
  }
  Dice dice(formatted("failing runs {}", subject.seed));
  for (const Sample& sample : storm->samples) {
    Result<Session> session = storm->bench.load(sample.model, storm->bench.options());
    if (!session.ok() || storm->bench.nodes_of(*session) == 0) continue;
    const Inputs& inputs = sample.inputs.front();
    const auto begin = std::chrono::steady_clock::now();
    (void)session->run(inputs);
    const std::chrono::duration<double, std::nano> whole = std::chrono::steady_clock::now() - begin;
    const std::string what = formatted("failing to run {}", sample.name);
    judge_growth(rounds_of(subject), what, report, [&] {
      run_into_failure(*session, inputs);
      for (int i = 0; i < 3; ++i) {
        run_into_deadline(
            *session, inputs,
            std::chrono::nanoseconds(static_cast<int64_t>(dice.real(0.01, 1) * whole.count())));
      }
    });
  }
  files.judge(report);
}

void check_storm_of_loading(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  Sample sample;
  std::optional<KeptSystemLibraries> kept;
  {
    const auto storm = prepare_storm(subject, report);
    if (!storm) return;
    sample = storm->samples.front();
    kept.emplace();
  }
  judge_growth(rounds_of(subject), "loading the plugin for a session and unloading it", report,
               [&] {
                 const Result<Bench> bench = Bench::open(subject);
                 if (!bench.ok()) return;
                 Result<Session> session = bench->load(sample.model, bench->options());
                 if (session.ok()) (void)session->run(sample.inputs.front());
               });
  files.judge(report);
}

void check_storm_of_contexts(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const auto compiled = need_compiled(*bench, {.count = 6, .time = milliseconds(2000)}, report);
  if (compiled.empty()) return;
  judge_growth(rounds_of(subject), "restoring a context and running it", report, [&] {
    Result<Session> session = bench->load(compiled.front().compiled.model, bench->options());
    if (session.ok()) (void)session->run(compiled.front().sample.inputs.front());
  });
  files.judge(report);
}

void check_storm_of_threads(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare_storm(subject, report);
  if (!storm) return;
  const Sample& sample = storm->samples.front();
  Result<Session> session = storm->bench.load(sample.model, storm->bench.options());
  if (!session.ok()) return;
  judge_growth(rounds_of(subject) * 10, "running a session in a new thread", report,
               [&] { std::thread([&] { (void)session->run(sample.inputs.front()); }).join(); });
  files.judge(report);
}

}  // namespace ephost::conformance
