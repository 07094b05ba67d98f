// Checks of the options of runs, given before or during them.
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
#include "host/manifest/manifest.h"

namespace ephost::conformance {
namespace {

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
std::vector<std::string> admitted_values(const OptionSpec& option) {
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
std::optional<Prepared> prepare_session(const Bench& bench, Report& report) {
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

}  // namespace

void check_run_options(const Subject& subject, Report& report) {
  const std::vector<OptionSpec> options = options_of(subject, OptionScope::kRun);
  if (options.empty()) return report.leave_out("the manifest declares no option of a run");
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  auto prepared = prepare_session(*bench, report);
  if (!prepared) return;
  const Inputs& inputs = prepared->sample.inputs.front();
  for (const OptionSpec& option : options) {
    for (const std::string& value : admitted_values(option)) {
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
  auto prepared = prepare_session(*bench, report);
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
      for (const std::string& value : admitted_values(option)) {
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
                "let runs that have begun keep the options that they began with");
  }
  const Result<Values> after = session.run(inputs);
  if (!after.ok() || find_difference(*after, prepared->expected)) {
    report.fail("with all dynamic options at their defaults again, the results differ from before",
                "keep nothing of a dynamic option but its last value");
  }
  report.note("options", static_cast<double>(options.size()));
}

}  // namespace ephost::conformance
