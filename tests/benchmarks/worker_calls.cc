// The cost of talking to a worker: round trips back to back and after pauses, and starting one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/worker/start_worker.h"

namespace ephost::worker {
namespace {

using Clock = std::chrono::steady_clock;

// Calls `call` once an iteration, `pause` apart, and adds the median to the report.
template <class Call>
void measure_calls(benchmark::State& state, std::chrono::microseconds pause, Call call) {
  auto worker = WorkerProcess::start(test_options());
  if (!worker.ok()) return state.SkipWithError(worker.status().message().c_str());
  auto channel = (*worker)->channel();
  if (!channel.ok()) return state.SkipWithError(channel.status().message().c_str());
  std::vector<double> microseconds;
  for (auto _ : state) {
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
    const auto start = Clock::now();
    if (!call(**channel)) return state.SkipWithError("the call failed");
    const std::chrono::duration<double> seconds = Clock::now() - start;
    microseconds.push_back(seconds.count() * 1e6);
    state.SetIterationTime(seconds.count());
  }
  const auto middle = microseconds.begin() + static_cast<ptrdiff_t>(microseconds.size() / 2);
  std::nth_element(microseconds.begin(), middle, microseconds.end());
  state.counters["median_us"] = *middle;
}

void hot_call(benchmark::State& state) {
  const std::chrono::microseconds pause(state.range(0));
  measure_calls(state, pause, [](HostChannel& channel) { return channel.call_hot(256).ok(); });
}

void message(benchmark::State& state) {
  const std::string text = "echo " + std::string(static_cast<size_t>(state.range(0)), 'x');
  measure_calls(state, std::chrono::microseconds(0),
                [&](HostChannel& channel) { return ask(channel, text).ok(); });
}

void callback(benchmark::State& state) {
  const auto on_callback = [](Message) -> Result<Message> { return Message{"x"}; };
  measure_calls(state, std::chrono::microseconds(0), [&](HostChannel& channel) {
    return ask(channel, "callback 1", {.on_callback = on_callback}).ok();
  });
}

void start_and_end(benchmark::State& state) {
  for (auto _ : state) {
    const auto worker = WorkerProcess::start(test_options());
    if (!worker.ok()) return state.SkipWithError(worker.status().message().c_str());
  }
}

BENCHMARK(hot_call)->Arg(0)->Arg(1000)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(message)->Arg(100)->Arg(10'000)->Arg(1'000'000)->UseManualTime()->Unit(
    benchmark::kMicrosecond);
BENCHMARK(callback)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(start_and_end)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ephost::worker

BENCHMARK_MAIN();
