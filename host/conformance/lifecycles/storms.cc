// Storms: the same again and again, while memory, descriptors, threads, mappings and files are
// counted.
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/lifecycles/lifecycle_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/samples.h"
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
                "write no files where nobody asked for them, and remove temporary ones when the "
                "provider is destroyed");
  }

 private:
  const std::filesystem::path folder_;
};

// A third of the rounds that judge_growth makes.
int rounds_of(const Subject& subject) { return subject.level == Level::kFull ? 100 : 7; }

struct Storm {
  Bench bench;
  Sample sample;
};

std::optional<Storm> prepare(const Subject& subject, Report& report) {
  auto bench = need_bench(subject, report);
  if (!bench) return std::nullopt;
  auto samples = need_samples(*bench, {.count = 1, .time = milliseconds(2000)}, report);
  if (samples.empty()) return std::nullopt;
  return Storm{std::move(*bench), std::move(samples.front())};
}

}  // namespace

void check_storm(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare(subject, report);
  if (!storm) return;
  judge_growth(rounds_of(subject), "creating, running and destroying a session", report, [&] {
    Result<Session> session = storm->bench.load(storm->sample.model, storm->bench.options());
    if (session.ok()) (void)session->run(storm->sample.inputs.front());
  });
  files.judge(report);
}

void check_storm_without_runs(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare(subject, report);
  if (!storm) return;
  judge_growth(rounds_of(subject), "creating and destroying a session", report,
               [&] { (void)storm->bench.load(storm->sample.model, storm->bench.options()); });
  files.judge(report);
}

void check_storm_of_failures(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  const auto storm = prepare(subject, report);
  if (!storm) return;
  // The provider has claimed its nodes when the host finds that nobody takes another one.
  onnx::ModelProto model;
  if (!model.ParseFromString(storm->sample.model)) return;
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
  const auto storm = prepare(subject, report);
  if (!storm) return;
  Result<Session> session = storm->bench.load(storm->sample.model, storm->bench.options());
  if (!session.ok()) return;
  judge_growth(rounds_of(subject) * 10, "running a session", report,
               [&] { (void)session->run(storm->sample.inputs.front()); });
  files.judge(report);
}

void check_storm_of_loading(const Subject& subject, Report& report) {
  const TemporaryFiles files(subject);
  Sample sample;
  {
    const auto storm = prepare(subject, report);
    if (!storm) return;
    sample = storm->sample;
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

}  // namespace ephost::conformance
