// Providers with different options in one process.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/interface/option_values.h"
#include "host/conformance/lifecycles/lifecycle_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"
#include "host/conformance/support/probe.h"

namespace ephost::conformance {
namespace {

// Values other than the defaults, one option at a time.
std::vector<OptionList> other_options(const manifest::Manifest& manifest) {
  std::vector<OptionList> found;
  for (const manifest::OptionSpec& option : manifest.options) {
    if (!is_for_creation(option)) continue;
    for (const std::string& value : values_to_try(option)) {
      if (value != manifest::to_text(option.default_value)) found.push_back({{option.name, value}});
    }
  }
  return found;
}

// What differs in a run from an earlier one.
std::optional<std::string> find_change(Session& session, const Inputs& inputs,
                                       const Values& before) {
  const Result<Values> now = session.run(inputs);
  return now.ok() ? find_difference(*now, before) : now.status().message();
}

// What becomes of two sessions that live at the same time, each of which was alone before.
std::optional<std::string> find_influence(const Bench& bench, const Sample& sample,
                                          const OptionList& other) {
  const Inputs& inputs = sample.inputs.front();
  std::optional<Values> expected;
  {
    Result<Session> alone = bench.load(sample.model, bench.options(other));
    Result<Values> outputs = alone.ok() ? alone->run(inputs) : alone.status();
    if (outputs.ok()) expected = std::move(*outputs);
  }
  Result<Session> plain = bench.load(sample.model, bench.options());
  const Result<Values> before = plain.ok() ? plain->run(inputs) : plain.status();
  if (!before.ok()) return std::nullopt;
  {
    // One that cannot be had, or that fails, may do no harm either.
    Result<Session> beside = bench.load(sample.model, bench.options(other));
    if (beside.ok() && expected) {
      if (auto change = find_change(*beside, inputs, *expected)) return change;
    }
    if (auto change = find_change(*plain, inputs, *before)) return change;
    if (beside.ok() && expected) {
      if (auto change = find_change(*beside, inputs, *expected)) return change;
    }
  }
  return find_change(*plain, inputs, *before);
}

}  // namespace

void check_other_options(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the manifest is not valid; check 8.1 says why");
  std::vector<OptionList> others = other_options(found->manifest);
  if (others.empty()) {
    return report.leave_out("the manifest declares no option with values besides its default");
  }
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const auto samples =
      need_samples(*bench, {.count = 2, .time = std::chrono::milliseconds(500)}, report);
  if (samples.empty()) return;
  Dice dice(formatted("other options {}", subject.seed));
  const Budget budget(bench->by_level(std::chrono::seconds(5), std::chrono::seconds(60)));
  uint64_t tried = 0;
  while (!others.empty() && !budget.is_spent()) {
    const auto any = others.begin() + dice.roll(0, static_cast<int64_t>(others.size()) - 1);
    const OptionList other = *any;
    others.erase(any);
    ++tried;
    for (const Sample& sample : samples) {
      const auto influence = find_influence(*bench, sample, other);
      if (!influence) continue;
      report.fail(
          formatted("{}: sessions without options and with {}={} give other results beside "
                    "each other than alone: {}",
                    sample.name, other[0].first, quote(other[0].second.substr(0, 40)), *influence),
          "keep options in the provider, and nothing of them in variables of the library");
      break;
    }
    if (report.findings().size() >= kMostFindings) break;
  }
  report.note("values", static_cast<double>(tried));
}

}  // namespace ephost::conformance
