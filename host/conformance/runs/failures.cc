// Runs that fail or that work on numbers which are not finite, and the runs after them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/runs/run_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/failing_runs.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

std::string_view class_of(float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "infinity" : "-infinity";
  return "finite";
}

// The first element that is of another class in both.
std::optional<std::string> find_other_class(const Values& actual, const Values& expected) {
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    const auto a = actual[i].elements<float>();
    const auto e = expected[i].elements<float>();
    const auto [at, wanted] =
        std::ranges::mismatch(a, e, [](float x, float y) { return class_of(x) == class_of(y); });
    if (at == a.end() || wanted == e.end()) continue;
    return formatted("element {} of output {} is {} and should be {}", at - a.begin(), i,
                     class_of(*at), class_of(*wanted));
  }
  return std::nullopt;
}

}  // namespace

void check_failed_runs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(16, 100),
                                 .time = bench->by_level(milliseconds(300), milliseconds(8'000))};
  uint64_t compared = 0;
  for (const Sample& sample : need_samples(*bench, request, report)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    if (!session.ok()) continue;
    const Inputs& inputs = sample.inputs.front();
    const Result<Values> before = session->run(inputs);
    if (!before.ok()) continue;
    run_into_failure(*session, inputs);
    const Result<Values> after = session->run(inputs);
    ++compared;
    const auto wrong =
        after.ok() ? find_difference(*after, *before) : std::optional(after.status().message());
    if (!wrong) continue;
    report.fail(formatted("{}: a run after runs that failed differs from the run before: {}",
                          sample.name, *wrong),
                "let a run that fails leave its state, and the provider, as they were");
  }
  report.note("models", static_cast<double>(compared));
}

void check_special_results(const Subject& subject, Report& report) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Dice dice(formatted("classes {}", subject.seed));
  uint64_t models = 0;
  // Those that define each element of their results by itself.
  for (const WideKind kind : {WideKind::kUnary, WideKind::kAffine, WideKind::kBinary}) {
    const Sample sample = wide_sample(kind, false);
    Result<Session> session = bench->load(sample.model, bench->options());
    Result<Session> reference = bench->load(sample.model, Bench::reference());
    if (!session.ok() || !reference.ok() || bench->nodes_of(*session) == 0) continue;
    const Inputs inputs =
        changed<float>(sample.inputs.front(), ElementType::kFloat, [&](float& number) {
          if (dice.one_in(3)) number = dice.pick({kInfinity, -kInfinity, std::nanf("")});
        });
    const Result<Values> outputs = session->run(inputs);
    const Result<Values> expected = reference->run(inputs);
    if (!outputs.ok() || !expected.ok()) continue;
    ++models;
    const auto wrong = find_other_class(*outputs, *expected);
    if (wrong) {
      report.fail(formatted("{}: {}", sample.name, *wrong),
                  "compute as IEEE 754 says: NaN stays NaN, and infinities count");
    }
  }
  if (models == 0) return report.leave_out("the provider takes no node of the models");
  report.note("models", static_cast<double>(models));
}

void check_subnormal_numbers(const Subject& subject, Report& report) {
  constexpr float kLeastNormal = std::numeric_limits<float>::min();
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Dice dice(formatted("subnormal {}", subject.seed));
  uint64_t models = 0;
  for (const WideKind kind : kWideKinds) {
    const Sample sample = wide_sample(kind, false);
    Result<Session> session = bench->load(sample.model, bench->options());
    Result<Session> reference = bench->load(sample.model, Bench::reference());
    if (!session.ok() || !reference.ok() || bench->nodes_of(*session) == 0) continue;
    const Inputs inputs =
        changed<float>(sample.inputs.front(), ElementType::kFloat, [&](float& number) {
          if (dice.one_in(3)) number = static_cast<float>(dice.real(-1, 1)) * kLeastNormal;
        });
    const Result<Values> outputs = session->run(inputs);
    const Result<Values> expected = reference->run(inputs);
    if (!expected.ok()) continue;
    ++models;
    const auto wrong =
        outputs.ok() ? find_difference(*outputs, *expected) : outputs.status().message();
    if (wrong) {
      report.fail(formatted("{} on subnormal numbers: {}", sample.name, *wrong),
                  "compute with subnormal numbers, or treat them as zero");
    }
  }
  if (models == 0) return report.leave_out("the provider takes no node of the models");
  report.note("models", static_cast<double>(models));
}

}  // namespace ephost::conformance
