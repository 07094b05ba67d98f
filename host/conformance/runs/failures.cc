// Runs that fail or that work on numbers which are not finite, and the runs after them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
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

// Models with such numbers among their inputs, whose results are compared with those of the CPU
// provider.
struct NumberTrial {
  std::span<const WideKind> kinds;
  float (*make)(Dice& dice) = nullptr;
  std::optional<std::string> (*find_wrong)(const Values& actual, const Values& expected) = nullptr;
  const char* advice = "";

  void run(const Subject& subject, Report& report) const {
    const auto bench = need_bench(subject, report);
    if (!bench) return;
    Dice dice(formatted("numbers {}", subject.seed));
    uint64_t models = 0;
    for (const WideKind kind : kinds) {
      const Sample sample = wide_sample(kind, false);
      Result<Session> session = bench->load(sample.model, bench->options());
      Result<Session> reference = bench->load(sample.model, Bench::reference());
      if (!session.ok() || !reference.ok() || bench->nodes_of(*session) == 0) continue;
      const Inputs inputs =
          changed<float>(sample.inputs.front(), ElementType::kFloat, [&](float& number) {
            if (dice.one_in(3)) number = make(dice);
          });
      const Result<Values> outputs = session->run(inputs);
      const Result<Values> expected = reference->run(inputs);
      if (!expected.ok()) continue;
      ++models;
      const auto wrong =
          outputs.ok() ? find_wrong(*outputs, *expected) : outputs.status().message();
      if (wrong) report.fail(formatted("{}: {}", sample.name, *wrong), advice);
    }
    if (models == 0) return report.leave_out("the provider takes no node of the models");
    report.note("models", static_cast<double>(models));
  }
};

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
  // Those that define each element of their results by itself.
  constexpr std::array kKinds = {WideKind::kUnary, WideKind::kAffine, WideKind::kBinary};
  const NumberTrial trial = {
      .kinds = kKinds,
      .make =
          [](Dice& dice) {
            return dice.pick({kInfinity, -kInfinity, std::nanf("")});
          },
      .find_wrong = &find_other_class,
      .advice = "compute as IEEE 754 says: NaN stays NaN, and infinities count"};
  trial.run(subject, report);
}

void check_subnormal_numbers(const Subject& subject, Report& report) {
  constexpr float kLeastNormal = std::numeric_limits<float>::min();
  const NumberTrial trial = {
      .kinds = kWideKinds,
      .make = [](Dice& dice) { return static_cast<float>(dice.real(-1, 1)) * kLeastNormal; },
      .find_wrong = &find_difference,
      .advice = "compute with subnormal numbers, or treat them as zero"};
  trial.run(subject, report);
}

}  // namespace ephost::conformance
