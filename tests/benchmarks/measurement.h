// Measurement in processes of their own for all benchmarks, so that every session starts
// cold: no library is loaded, no operator registry and no primitive cache
// is filled. Children start as copies of this process, which therefore loads nothing and has no
// threads.
#pragma once

#include <benchmark/benchmark.h>
#include <ephost/status.h>
#include <ephost/types/session.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ephost::benchmarks {

// The measurements of a child. Phases and quantities become counters of the benchmark.
struct Sample {
  double seconds = 0;
  std::vector<Phase> phases;
  std::map<std::string, double> quantities;
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Each iteration is one child that calls `body`. A failure ends the benchmark with its message.
void measure(benchmark::State& state, const std::function<Result<Sample>()>& body);

// Prepares what a benchmark needs in a child; returns false if that fails, which the benchmark then
// reports.
[[nodiscard]] bool prepare(benchmark::State& state, const std::function<Status()>& work);

// Registers a benchmark that reports milliseconds of real time.
void register_benchmark(const std::string& name,
                        const std::function<void(benchmark::State&)>& function);

}  // namespace ephost::benchmarks
