// ephost_api_benchmark MODEL... [Google Benchmark's flags]: what the C API and the C++ wrapper add
// to a run. Each model has one input and one output, of floats. Give
// --benchmark_enable_random_interleaving=true and some --benchmark_repetitions to compare fairly.
#include "tests/benchmarks/api_calls.h"

#include <benchmark/benchmark.h>

#include <iostream>
#include <span>
#include <string>

namespace ephost::benchmarks {
namespace {

using Open = Result<std::unique_ptr<Runs>> (*)(const std::filesystem::path&);

void measure(benchmark::State& state, const std::filesystem::path& model, Open open,
             Status (Runs::*run)()) {
  const Result<std::unique_ptr<Runs>> opened = open(model);
  Status status = opened.status();
  for ([[maybe_unused]] const auto& iteration : state) {
    if (status.ok()) status = (**opened.*run)();
    if (!status.ok()) return state.SkipWithError(status.to_string().c_str());
  }
}

void add(const std::string& name, const std::filesystem::path& model, Open open) {
  benchmark::RegisterBenchmark((name + "/run").c_str(), measure, model, open, &Runs::run);
  benchmark::RegisterBenchmark((name + "/run_with_binding").c_str(), measure, model, open,
                               &Runs::run_with_binding);
}

}  // namespace
}  // namespace ephost::benchmarks

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::cerr << "usage: ephost_api_benchmark MODEL... [--benchmark_...]\n";
    return 2;
  }
  using namespace ephost::benchmarks;
  for (const char* const model : std::span(argv + 1, static_cast<size_t>(argc) - 1)) {
    const std::string name = std::filesystem::path(model).parent_path().filename().string();
    add(name + "/inside", model, open_inside);
    add(name + "/c", model, open_from_c);
    add(name + "/cpp", model, open_from_cpp);
  }
  return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}
