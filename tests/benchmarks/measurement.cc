#include "tests/benchmarks/measurement.h"

#include <utility>

#include "host/cli/measure/child_process.h"

namespace ephost::benchmarks {

namespace {

cli::Json to_json(const Sample& sample) {
  cli::Json counters = cli::Json::array();
  const auto add = [&](const std::string& name, double value) {
    counters.push_back(cli::Json{{"name", name}, {"value", value}});
  };
  for (const Phase& phase : sample.phases) add(phase.name + "_ms", phase.seconds * 1000);
  for (const auto& [name, quantity] : sample.quantities) add(name, quantity);
  return cli::Json{{"seconds", sample.seconds}, {"counters", counters}};
}

}  // namespace

void measure(benchmark::State& state, const std::function<Result<Sample>()>& body) {
  std::map<std::string, double> sums;
  for ([[maybe_unused]] const auto _ : state) {
    const Result<cli::Json> measured = cli::in_child("", [&]() -> Result<cli::Json> {
      EPHOST_ASSIGN_OR_RETURN(const Sample sample, body());
      return to_json(sample);
    });
    if (!measured.ok()) {
      state.SkipWithError(measured.status().to_string().c_str());
      break;
    }
    state.SetIterationTime(measured->member("seconds").number());
    for (const cli::Json& counter : measured->member("counters").elements()) {
      sums[counter.member("name").string()] += counter.member("value").number();
    }
  }
  for (const auto& [name, sum] : sums) {
    state.counters[name] = benchmark::Counter(sum, benchmark::Counter::kAvgIterations);
  }
}

bool prepare(benchmark::State& state, const std::function<Status()>& work) {
  const Result<cli::Json> done = cli::in_child("", [&]() -> Result<cli::Json> {
    EPHOST_RETURN_IF_ERROR(work());
    return cli::Json();
  });
  if (!done.ok()) state.SkipWithError(done.status().to_string().c_str());
  return done.ok();
}

void register_benchmark(const std::string& name,
                        const std::function<void(benchmark::State&)>& function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace ephost::benchmarks
