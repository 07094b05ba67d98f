// Runs that are cancelled. Between two computations the host itself ends them, so that what is
// measured is how soon a single long computation ends.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/runs/run_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"
#include "host/conformance/sessions/step_times.h"
#include "host/conformance/sessions/wide_models.h"

namespace ephost::conformance {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr Milliseconds kLongComputation(200);
constexpr Milliseconds kLongRun(3000);
constexpr int64_t kColumns = 512;
constexpr int64_t kMostRows = 32'768;  // tensors of 64 MiB

// What one attempt to cancel came to.
struct Attempt {
  bool was_cancelled = false;
  Milliseconds latency{};
};

Attempt cancel_after(Session& session, const Inputs& inputs, Milliseconds delay) {
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
  attempt.latency = std::max(Milliseconds(0), Milliseconds(ended - asked));
  return attempt;
}

// A session whose runs can be cancelled.
struct Subjected {
  Sample sample;
  Session session;
  Milliseconds whole{};  // of a run
  StepTime longest;      // of the provider, where it matters
};

std::optional<Subjected> prepare_subjected(const Bench& bench, Sample sample) {
  Result<Session> session = bench.load(sample.model, bench.options());
  if (!session.ok() || bench.nodes_of(*session) == 0) return std::nullopt;
  Subjected made{std::move(sample), std::move(*session)};
  if (!made.session.run(made.sample.inputs.front()).ok()) return std::nullopt;
  const Clock::time_point begin = Clock::now();
  if (!made.session.run(made.sample.inputs.front()).ok()) return std::nullopt;
  made.whole = Clock::now() - begin;
  return made;
}

// A model of which the provider makes one long computation, or nothing if all are short.
std::optional<Subjected> find_long(const Bench& bench) {
  for (const WideKind kind : kWideKinds) {
    for (int64_t rows = 256; rows <= kMostRows; rows *= 4) {
      const WideShape shape = {.rows = rows, .columns = kColumns, .repeats = 4};
      std::optional<Subjected> made = prepare_subjected(bench, sample_of(kind, shape));
      if (!made || made->whole > kLongRun) break;
      if (made->whole < kLongComputation) continue;
      const Result<StepTime> longest =
          longest_step(bench, made->sample.model, made->sample.inputs.front());
      if (!longest.ok()) break;
      made->longest = *longest;
      if (longest->length >= kLongComputation) return made;
    }
  }
  return std::nullopt;
}

std::optional<Subjected> find_any(const Bench& bench, Report& report) {
  std::vector<Sample> samples =
      need_samples(bench, {.count = 1, .time = std::chrono::milliseconds(2000)}, report);
  if (samples.empty()) return std::nullopt;
  return prepare_subjected(bench, std::move(samples.front()));
}

void judge_latency(Subjected& subjected, Report& report) {
  const StepTime& longest = subjected.longest;
  // The least of several, as other processes may take the processor in any of them.
  Milliseconds least(std::numeric_limits<double>::infinity());
  for (int i = 0; i < 5; ++i) {
    // After a run that ended early, the next one may take longer.
    if (!subjected.session.run(subjected.sample.inputs.front()).ok()) return;
    const Attempt attempt = cancel_after(subjected.session, subjected.sample.inputs.front(),
                                         longest.begin + 0.1 * longest.length);
    if (attempt.was_cancelled) least = std::min(least, attempt.latency);
  }
  report.note("long computation (ms)", longest.length.count());
  report.note("end after cancellation (ms)", least.count());
  // A computation that does not ask continues for nine tenths of its time.
  const Milliseconds limit = 0.5 * longest.length;
  if (least <= limit) return;
  report.fail(
      formatted("{}: a run of {:.0f} ms with a computation of {:.0f} ms {}", subjected.sample.name,
                subjected.whole.count(), longest.length.count(),
                least.count() > subjected.whole.count()
                    ? std::string("runs to its end when it is cancelled")
                    : formatted("ends {:.0f} ms after it is cancelled", least.count())),
      "ask is_cancelled about every millisecond within a computation, and return EPH_CANCELLED");
}

// Cancelled at any time, a run fails or ends, and those after it work.
void judge_later_runs(const Bench& bench, Subjected& subjected, Report& report) {
  const Inputs& inputs = subjected.sample.inputs.front();
  const Result<Values> expected = subjected.session.run(inputs);
  if (!expected.ok()) return;
  Dice dice(formatted("cancellation {}", bench.subject().seed));
  int cancelled = 0;
  const int attempts = bench.by_level(30, 100);
  for (int i = 0; i < attempts; ++i) {
    const Milliseconds delay(i % 4 == 0 ? 0 : dice.real(0.001, subjected.whole.count()));
    cancelled += cancel_after(subjected.session, inputs, delay).was_cancelled ? 1 : 0;
    if (i % 10 != 9) continue;
    const Result<Values> after = subjected.session.run(inputs);
    if (after.ok() && !find_difference(*after, *expected)) continue;
    report.fail("a run after cancelled ones fails or gives another result",
                "leave a state as it was when a run is cancelled");
    break;
  }
  report.note("runs cancelled", cancelled);
}

}  // namespace

void check_cancellation(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  std::optional<Subjected> any = find_any(*bench, report);
  if (!any) return;
  judge_later_runs(*bench, *any, report);
  std::optional<Subjected> slow = find_long(*bench);
  if (slow) judge_latency(*slow, report);
}

}  // namespace ephost::conformance
