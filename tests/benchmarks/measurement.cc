#include "tests/benchmarks/measurement.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "host/cli/measure/child_process.h"

namespace ephost::benchmarks {

const Environment& environment() {
  static const Environment created = [] {
    EnvironmentOptions options;
    options.plugin_directories = {EPHOST_PLUGINS, EPHOST_FIXTURES "/scripted"};
    options.search_default_directories = false;
    Result<Environment> result = Environment::create(options);
    if (!result.ok()) {
      std::cerr << result.status().to_string() << '\n';
      std::exit(EXIT_FAILURE);
    }
    return std::move(result).value();
  }();
  return created;
}

Result<Sample> time_session(const std::filesystem::path& model, const SessionOptions& options) {
  const Stopwatch stopwatch;
  EPHOST_ASSIGN_OR_RETURN(const Session session, Session::create(environment(), model, options));
  return Sample{stopwatch.seconds(), session.phases(), {}};
}

Result<Sample> time_generation(const SessionOptions& options,
                               const ModelCompilationOptions& compilation) {
  const Stopwatch stopwatch;
  EPHOST_RETURN_IF_ERROR(compile_model(environment(), options, compilation).status());
  return Sample{stopwatch.seconds(), {}, {}};
}

void measure(benchmark::State& state, const std::function<Result<Sample>()>& body) {
  std::map<std::string, double> sums;
  for ([[maybe_unused]] const auto _ : state) {
    const Result<cli::Json> measured = cli::in_child("", [&]() -> Result<cli::Json> {
      EPHOST_ASSIGN_OR_RETURN(const Sample sample, body());
      return cli::Json{{"seconds", sample.seconds},
                       {"phases", cli::phases_json(sample.phases)},
                       {"quantities", sample.quantities}};
    });
    if (!measured.ok()) {
      state.SkipWithError(measured.status().to_string().c_str());
      break;
    }
    state.SetIterationTime((*measured)["seconds"].get<double>());
    for (const cli::Json& phase : (*measured)["phases"]) {
      sums[phase["name"].get<std::string>() + "_ms"] += phase["seconds"].get<double>() * 1000;
    }
    for (const auto& [name, quantity] : (*measured)["quantities"].items()) {
      sums[name] += quantity.get<double>();
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
