// Runs and sessions of several threads, compared with those of one thread.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/conformance/lifecycles/lifecycle_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

constexpr const char* kStateAdvice =
    "keep what a run writes on the stack, in its scratch memory, workspace or state, and guard "
    "what "
    "computations and providers share";

// The first thing that a thread found.
class FirstFinding {
 public:
  void set(std::string text) {
    const std::lock_guard lock(mutex_);
    if (text_.empty()) text_ = std::move(text);
    is_set_ = true;
  }
  [[nodiscard]] bool is_set() const { return is_set_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // once the threads have ended

 private:
  std::mutex mutex_;
  std::string text_;
  std::atomic<bool> is_set_ = false;
};

// Takes the processor from the others at odd times, as long as it lives.
class Shaker {
 public:
  Shaker()
      : thread_([this] {
          for (uint64_t turn = 0; !is_over_; ++turn) {
            for (uint64_t spin = turn % 61 * 40; spin > 0 && !is_over_; --spin)
              std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(turn % 7 * 30));
          }
        }) {}
  Shaker(const Shaker&) = delete;
  Shaker& operator=(const Shaker&) = delete;
  ~Shaker() {
    is_over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

// Runs and judges; false if something is wrong.
bool run_one(Session& session, const Inputs& inputs, const Values& expected,
             FirstFinding& finding) {
  const Result<Values> outputs = session.run(inputs);
  if (!outputs.ok()) {
    finding.set(formatted("a run fails: {}", outputs.status().message()));
    return false;
  }
  if (are_identical(*outputs, expected)) return true;
  const auto difference = find_difference(*outputs, expected);
  if (difference) finding.set(formatted("a run gives another result: {}", *difference));
  return !difference;
}

// Inputs of its own for each thread, and what one run alone makes of them.
struct Work {
  Inputs inputs;
  Values expected;
};

std::vector<Work> make_work(const Sample& sample, Session& session, size_t threads, Dice& dice) {
  std::vector<Work> work;
  for (size_t i = 0; i < threads; ++i) {
    Inputs inputs = shuffled(sample.inputs[i % sample.inputs.size()], dice);
    Result<Values> expected = session.run(inputs);
    if (expected.ok()) work.push_back({std::move(inputs), std::move(*expected)});
  }
  return work;
}

// Many short runs, which all threads begin at once again and again.
uint64_t overlap(Session& session, const std::vector<Work>& work, milliseconds time,
                 FirstFinding& finding) {
  const Budget budget(time);
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> runs = 0;
  std::barrier start(static_cast<std::ptrdiff_t>(work.size()),
                     [&]() noexcept { is_over = budget.is_spent() || finding.is_set(); });
  const auto turn = [&](const Work& own) {
    for (;;) {
      start.arrive_and_wait();
      if (is_over) return;
      for (int run = 0; run < 8; ++run) {
        if (!run_one(session, own.inputs, own.expected, finding)) break;
        ++runs;
      }
    }
  };
  std::vector<std::thread> threads;
  for (const Work& own : work) threads.emplace_back([&] { turn(own); });
  for (std::thread& thread : threads) thread.join();
  return runs;
}

// A number of each kind of sample, wide ones among them.
std::vector<Sample> several_samples(const Bench& bench, Report& report) {
  const SampleRequest request = {.count = bench.by_level<size_t>(12, 60),
                                 .time = bench.by_level(milliseconds(300), milliseconds(5000))};
  return need_samples(bench, request, report);
}

}  // namespace

void check_concurrent_runs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Dice dice(formatted("concurrent {}", subject.seed));
  const std::vector<Sample> samples = several_samples(*bench, report);
  if (samples.empty()) return;
  const auto time = bench->by_level(milliseconds(1000), milliseconds(8'000)) / samples.size();
  uint64_t runs = 0;
  const Shaker shaker;
  for (const Sample& sample : samples) {
    SessionOptions options = bench->options();
    if (dice.one_in(2)) options.set_intra_op_num_threads(1);
    Result<Session> session = bench->load(sample.model, options);
    if (!session.ok()) continue;
    for (const size_t threads : {size_t{2}, size_t{5}}) {
      const std::vector<Work> work = make_work(sample, *session, threads, dice);
      if (work.empty()) continue;
      FirstFinding finding;
      runs += overlap(*session, work, milliseconds(time / 2), finding);
      if (!finding.is_set()) continue;
      report.fail(formatted("{}, with {} threads that run one session: {}", sample.name, threads,
                            finding.text()),
                  kStateAdvice);
      break;
    }
  }
  report.note("runs", static_cast<double>(runs));
}

void check_concurrent_sessions(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const std::vector<Sample> samples = several_samples(*bench, report);
  std::vector<Values> expected;
  for (const Sample& sample : samples) {
    Result<Session> session = bench->load(sample.model, bench->options());
    Result<Values> outputs = session.ok() ? session->run(sample.inputs.front()) : session.status();
    expected.push_back(outputs.ok() ? std::move(*outputs) : Values());
  }
  const Budget budget(bench->by_level(milliseconds(1500), milliseconds(8'000)));
  FirstFinding finding;
  std::atomic<uint64_t> sessions = 0;
  const auto turn = [&](size_t first) {
    for (size_t i = first; !budget.is_spent() && !finding.is_set() && !samples.empty(); ++i) {
      const size_t at = i % samples.size();
      if (expected[at].empty()) continue;
      Result<Session> session = bench->load(samples[at].model, bench->options());
      ++sessions;
      if (!session.ok()) {
        finding.set(
            formatted("{} has no session: {}", samples[at].name, session.status().message()));
      } else {
        (void)run_one(*session, samples[at].inputs.front(), expected[at], finding);
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) threads.emplace_back([&turn, i] { turn(i); });
  for (std::thread& thread : threads) thread.join();
  if (finding.is_set()) {
    report.fail(formatted("with sessions of four threads, {}", finding.text()), kStateAdvice);
  }
  report.note("sessions", static_cast<double>(sessions));
}

void check_destruction_beside_runs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Dice dice(formatted("beside {}", subject.seed));
  const std::vector<Sample> samples = several_samples(*bench, report);
  if (samples.empty()) return;
  const Sample& sample = samples.front();
  Result<Session> session = bench->load(sample.model, bench->options());
  if (!session.ok()) return;
  const std::vector<Work> work = make_work(sample, *session, 1, dice);
  if (work.empty()) return;
  std::atomic<bool> is_over = false;
  FirstFinding finding;
  std::thread runs([&] {
    while (!is_over && run_one(*session, work[0].inputs, work[0].expected, finding)) {
    }
  });
  for (int i = 0; i < bench->by_level(20, 300) && !finding.is_set(); ++i) {
    const Sample& other = samples[static_cast<size_t>(i) % samples.size()];
    Result<Session> short_lived = bench->load(other.model, bench->options());
    if (short_lived.ok() && dice.one_in(2)) (void)short_lived->run(other.inputs.front());
  }
  is_over = true;
  runs.join();
  if (!finding.is_set()) return;
  report.fail(formatted("{}, while other sessions come and go: {}", sample.name, finding.text()),
              kStateAdvice);
}

void check_threads_of_handles(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  for (const Sample& sample : several_samples(*bench, report)) {
    Values first;
    std::optional<Session> session;
    std::thread([&] {
      Result<Session> made = bench->load(sample.model, bench->options());
      if (!made.ok()) return;
      session = std::move(*made);
      Result<Values> outputs = session->run(sample.inputs.front());
      if (outputs.ok()) first = std::move(*outputs);
    }).join();
    if (!session || first.empty()) continue;
    FirstFinding finding;
    std::thread([&] { (void)run_one(*session, sample.inputs.front(), first, finding); }).join();
    std::thread([&] { session.reset(); }).join();
    if (!finding.is_set()) continue;
    report.fail(formatted("{}, in a thread that did not create the session: {}", sample.name,
                          finding.text()),
                "keep nothing in variables of a thread that another thread needs");
  }
}

void check_pool_sizes(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  for (const Sample& sample : several_samples(*bench, report)) {
    Values first;
    for (const uint32_t threads : {1U, 2U, 7U}) {
      for (const ExecutionMode mode : {ExecutionMode::kSequential, ExecutionMode::kParallel}) {
        SessionOptions options = bench->options();
        options.set_intra_op_num_threads(threads).set_execution_mode(mode);
        options.set_inter_op_num_threads(2);
        Result<Session> session = bench->load(sample.model, options);
        Result<Values> outputs =
            session.ok() ? session->run(sample.inputs.front()) : session.status();
        if (!outputs.ok()) {
          if (first.empty()) break;
          report.fail(formatted("{} fails with {} threads: {}", sample.name, threads,
                                outputs.status().message()),
                      "take as many threads as the host gives");
          continue;
        }
        if (first.empty()) first = *outputs;
        const auto difference = find_difference(*outputs, first);
        if (!difference) continue;
        report.fail(formatted("{} gives another result with {} threads: {}", sample.name, threads,
                              *difference),
                    "write each element from one thread, whatever the ranges of a loop are");
      }
    }
  }
}

}  // namespace ephost::conformance
