// What runs are told while they go on, or before: options, and to end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/runs/run_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"
#include "host/conformance/sessions/wide_models.h"
#include "host/manifest/manifest.h"

namespace ephost::conformance {
namespace {

using Clock = std::chrono::steady_clock;
using manifest::OptionScope;
using manifest::OptionSpec;
using manifest::OptionType;
using std::chrono::milliseconds;

std::vector<OptionSpec> options_of(const Subject& subject, OptionScope scope) {
  const Result<manifest::Manifest> manifest = manifest::load_manifest(subject.manifest);
  if (!manifest.ok()) return {};
  std::vector<OptionSpec> options = manifest->options;
  std::erase_if(options, [&](const OptionSpec& option) { return option.scope != scope; });
  return options;
}

// The values that the manifest admits, as texts: all choices, or the ends of the range, and the
// default last.
std::vector<std::string> values_of(const OptionSpec& option) {
  std::vector<std::string> values = option.choices;
  if (option.type == OptionType::kBool) values = {"false", "true"};
  if (option.range) {
    values = {manifest::to_text(option.range->first), manifest::to_text(option.range->second)};
  }
  values.push_back(manifest::to_text(option.default_value));
  return values;
}

std::string key_of(const Bench& bench, const OptionSpec& option) {
  return formatted("ep.{}.{}", bench.plugin().name, option.name);
}

struct Prepared {
  Sample sample;
  Session session;
  Values expected;
};

// A session that the provider has nodes of, and the results of its first inputs.
std::optional<Prepared> prepare(const Bench& bench, Report& report) {
  std::vector<Sample> samples =
      need_samples(bench, {.count = 1, .time = milliseconds(2000)}, report);
  if (samples.empty()) return std::nullopt;
  Result<Session> session = bench.load(samples.front().model, bench.options());
  if (!session.ok()) return std::nullopt;
  Result<Values> expected = session->run(samples.front().inputs.front());
  if (expected.ok()) {
    return Prepared{std::move(samples.front()), std::move(*session), std::move(*expected)};
  }
  report.leave_out(formatted("a run without options fails: {}", expected.status().message()));
  return std::nullopt;
}

// What one attempt to cancel came to.
struct Attempt {
  bool was_cancelled = false;
  double latency_ms = 0;
};

Attempt cancel_after(Session& session, const Inputs& inputs, std::chrono::microseconds delay) {
  std::atomic<bool> flag = delay.count() == 0;
  Attempt attempt;
  Clock::time_point asked = Clock::now();
  Clock::time_point ended;
  RunOptions options;
  options.cancelled = &flag;
  std::thread runner([&] {
    attempt.was_cancelled = !session.run(inputs, {}, options).ok();
    ended = Clock::now();
  });
  if (delay.count() != 0) {
    std::this_thread::sleep_for(delay);
    asked = Clock::now();
    flag = true;
  }
  runner.join();
  attempt.latency_ms =
      std::max(0.0, std::chrono::duration<double, std::milli>(ended - asked).count());
  return attempt;
}

// The longest chain of work that the provider takes.
std::optional<Sample> longest_sample(const Bench& bench, Report& report) {
  for (const WideKind kind : {WideKind::kProduct, WideKind::kUnary, WideKind::kAffine,
                              WideKind::kBinary, WideKind::kConvolution}) {
    const WideShape shape = {.rows = bench.by_level<int64_t>(256, 1024),
                             .columns = 512,
                             .repeats = bench.by_level(4, 16)};
    Sample sample = sample_of(kind, shape);
    const Result<Session> session = bench.load(sample.model, bench.options());
    if (session.ok() && bench.nodes_of(*session) > 0) return sample;
  }
  auto others = need_samples(bench, {.count = 1, .wants_wide = false}, report);
  if (others.empty()) return std::nullopt;
  return std::move(others.front());
}

}  // namespace

void check_run_options(const Subject& subject, Report& report) {
  const std::vector<OptionSpec> options = options_of(subject, OptionScope::kRun);
  if (options.empty()) return report.leave_out("the manifest declares no option of a run");
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  auto prepared = prepare(*bench, report);
  if (!prepared) return;
  const Inputs& inputs = prepared->sample.inputs.front();
  for (const OptionSpec& option : options) {
    for (const std::string& value : values_of(option)) {
      RunOptions run;
      run.add_config_entry(key_of(*bench, option), value);
      const Result<Values> outputs = prepared->session.run(inputs, {}, run);
      if (!outputs.ok()) {
        report.fail(formatted("a run with {} = {} fails: {}", option.name, quote(value),
                              outputs.status().message()),
                    "take every value that the manifest admits, or narrow the manifest");
      }
      const Result<Values> after = prepared->session.run(inputs);
      const bool is_same = after.ok() && !find_difference(*after, prepared->expected);
      if (is_same) continue;
      report.fail(formatted("a run without options differs after one with {} = {}", option.name,
                            quote(value)),
                  "forget options of a run when it ends");
    }
  }
  report.note("options", static_cast<double>(options.size()));
}

void check_dynamic_options(const Subject& subject, Report& report) {
  const std::vector<OptionSpec> options = options_of(subject, OptionScope::kDynamic);
  if (options.empty()) return report.leave_out("the manifest declares no dynamic option");
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  auto prepared = prepare(*bench, report);
  if (!prepared) return;
  Session& session = prepared->session;
  const Inputs& inputs = prepared->sample.inputs.front();
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> failures = 0;
  std::thread runs([&] {
    while (!is_over) failures += session.run(inputs).ok() ? 0 : 1;
  });
  for (int round = 0; round < bench->by_level(3, 10); ++round) {
    for (const OptionSpec& option : options) {
      for (const std::string& value : values_of(option)) {
        const Status status = session.set_ep_dynamic_options({{key_of(*bench, option), value}});
        if (!status.ok() && round == 0) {
          report.fail(
              formatted("{} = {} is refused: {}", option.name, quote(value), status.message()),
              "take every value that the manifest admits, or narrow the manifest");
        }
        std::this_thread::sleep_for(milliseconds(1));
      }
    }
  }
  is_over = true;
  runs.join();
  if (failures > 0) {
    report.fail(formatted("{} runs fail while dynamic options change", failures.load()),
                "let runs that have begun go on with the options that they began with");
  }
  const Result<Values> after = session.run(inputs);
  if (!after.ok() || find_difference(*after, prepared->expected)) {
    report.fail("with all dynamic options at their defaults again, the results differ from before",
                "keep nothing of a dynamic option but its last value");
  }
  report.note("options", static_cast<double>(options.size()));
}

void check_cancellation(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const std::optional<Sample> sample = longest_sample(*bench, report);
  if (!sample) return;
  Result<Session> session = bench->load(sample->model, bench->options());
  if (!session.ok()) return;
  const Inputs& inputs = sample->inputs.front();
  const Result<Values> expected = session->run(inputs);
  if (!expected.ok()) return;
  const Clock::time_point begin = Clock::now();
  (void)session->run(inputs);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);

  Dice dice(formatted("cancellation {}", subject.seed));
  const int attempts = bench->by_level(30, 100);
  int cancelled = 0;
  double slowest_ms = 0;
  for (int i = 0; i < attempts; ++i) {
    const auto delay = std::chrono::microseconds(i % 4 == 0 ? 0 : dice.roll(1, whole.count() + 1));
    const Attempt attempt = cancel_after(*session, inputs, delay);
    cancelled += attempt.was_cancelled ? 1 : 0;
    if (attempt.was_cancelled) slowest_ms = std::max(slowest_ms, attempt.latency_ms);
    if (i % 10 != 9) continue;
    const Result<Values> after = session->run(inputs);
    if (after.ok() && !find_difference(*after, *expected)) continue;
    report.fail("a run after cancelled ones fails or gives another result",
                "leave a state as it was when a run is cancelled");
    break;
  }
  if (cancelled == 0) {
    report.fail("runs whose flag is set before they begin are not cancelled",
                "return a failure where eph_run_api::is_cancelled says so");
  }
  constexpr double kLongMs = 2000;
  if (slowest_ms > kLongMs) {
    report.fail(formatted("a cancelled run ends after {:.0f} ms", slowest_ms),
                "look at is_cancelled every few milliseconds");
  }
  report.note("whole run (ms)", static_cast<double>(whole.count()) / 1000);
  report.note("runs cancelled", cancelled);
  report.note("slowest cancellation (ms)", slowest_ms);
}

}  // namespace ephost::conformance
