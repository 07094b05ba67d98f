// A reporter that prints the benchmarks' results, and at the end tables that compare their times.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace ephost::benchmarks {

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  // `chain_nodes` is the number of nodes of the model that dispatch is measured on; 0 if there is
  // none.
  RatioReporter(std::vector<std::string> models, size_t chain_nodes);

  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  [[nodiscard]] bool has_failure() const { return has_failure_; }

 private:
  // Median over the repetitions, in milliseconds; 0 if the benchmark did not run.
  [[nodiscard]] double time_of(const std::string& name) const;
  void print_context_cache();
  void print_partition_counts();
  void print_dispatch();
  void print_planning();

  std::vector<std::string> models_;
  size_t chain_nodes_;
  // By benchmark; the counters are those of its last run.
  std::map<std::string, std::vector<double>> milliseconds_;
  std::map<std::string, std::map<std::string, double>> counters_;
  bool has_failure_ = false;
};

}  // namespace ephost::benchmarks
