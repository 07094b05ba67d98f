#include "tests/benchmarks/ratios.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "host/cli/measure/statistics.h"
#include "host/cli/report/table.h"
#include "tests/benchmarks/dispatch.h"
#include "tests/benchmarks/partition_count.h"
#include "tests/benchmarks/planning.h"

namespace ephost::benchmarks {
namespace {

std::string fixed(double value, int small_places = 2) {
  if (value == 0) return "-";
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", value < 100 ? small_places : 0, value);
  return text;
}

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

std::vector<cli::Column> columns(const std::vector<std::string>& titles) {
  std::vector<cli::Column> all;
  for (const std::string& title : titles) {
    all.push_back({title, all.empty() ? cli::Align::kLeft : cli::Align::kRight});
  }
  return all;
}

// A field that newer versions of the library call otherwise.
template <class Run>
bool has_failed(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred;
  else
    return run.skipped != decltype(run.skipped){};
}

}  // namespace

RatioReporter::RatioReporter(std::vector<std::string> models, size_t chain_nodes)
    : benchmark::ConsoleReporter(OO_Tabular),
      models_(std::move(models)),
      chain_nodes_(chain_nodes) {}

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const bool failed = has_failed(run);
    if (failed) has_failure_ = true;
    if (failed || run.run_type != Run::RT_Iteration) continue;
    milliseconds_[run.run_name.function_name].push_back(
        ratio(run.real_accumulated_time * 1000, static_cast<double>(run.iterations)));
    for (const auto& [name, counter] : run.counters) {
      counters_[run.run_name.function_name][name] = counter.value;
    }
  }
  // Their counters differ, so one table for all would be too wide.
  std::vector<Run> plain = runs;
  for (Run& run : plain) run.counters.clear();
  benchmark::ConsoleReporter::ReportRuns(plain);
}

void RatioReporter::Finalize() {
  benchmark::ConsoleReporter::Finalize();
  print_context_cache();
  print_partition_counts();
  print_dispatch();
  print_planning();
}

double RatioReporter::time_of(const std::string& name) const {
  const auto found = milliseconds_.find(name);
  return found == milliseconds_.end() ? 0 : cli::median(found->second);
}

void RatioReporter::print_context_cache() {
  cli::Table times(columns({"milliseconds", "cold", "generation", "embedded", "external",
                            "external, unknown", "store", "second", "primitives only"}));
  cli::Table ratios(
      columns({"ratio", "cold / external", "generation / cold", "embedded / external",
               "store / external", "second / external", "external / primitives only"}));
  for (const std::string& model : models_) {
    const double cold = time_of(model + "/cold session");
    const double generation = time_of(model + "/generation");
    const double embedded = time_of(model + "/load embedded");
    const double external = time_of(model + "/load external");
    const double unknown = time_of(model + "/load unknown");
    const double store = time_of(model + "/load from store");
    const double second = time_of(model + "/second session");
    const double primitives = time_of(model + "/primitives only");
    if (cold + generation + embedded + external + unknown + store + second + primitives == 0)
      continue;
    times.add_row({model, fixed(cold), fixed(generation), fixed(embedded), fixed(external),
                   fixed(unknown), fixed(store), fixed(second), fixed(primitives)});
    ratios.add_row({model, fixed(ratio(cold, external)), fixed(ratio(generation, cold)),
                    fixed(ratio(embedded, external)), fixed(ratio(store, external)),
                    fixed(ratio(second, external)), fixed(ratio(external, primitives))});
  }
  if (times.empty()) return;
  GetOutputStream() << "\nThe context cache\n" << times.to_text() << '\n' << ratios.to_text();
}

void RatioReporter::print_partition_counts() {
  cli::Table table(columns({"partitions", "session ms", "generation ms", "load ms",
                            "load, microseconds per partition"}));
  for (const size_t count : kPartitionCounts) {
    const std::string name = "partitions/" + std::to_string(count) + "/";
    const double load = time_of(name + "load");
    const double session = time_of(name + "session");
    const double generation = time_of(name + "generation");
    if (load + session + generation == 0) continue;
    table.add_row({std::to_string(count), fixed(session), fixed(generation), fixed(load),
                   fixed(load * 1000 / static_cast<double>(count))});
  }
  if (!table.empty()) GetOutputStream() << "\nPartitions of one chain\n" << table.to_text();
}

void RatioReporter::print_dispatch() {
  const double run = time_of(std::string(kDispatch));
  if (run == 0) return;
  cli::Table table(columns({"nodes", "run ms", "nanoseconds per node"}));
  table.add_row({std::to_string(chain_nodes_), fixed(run),
                 fixed(run * 1e6 / static_cast<double>(chain_nodes_))});
  GetOutputStream() << "\nDispatch\n" << table.to_text();
}

void RatioReporter::print_planning() {
  cli::Table table(columns({"model", "planned bytes", "lower bound", "ratio", "planning ms"}));
  for (const std::string& model : models_) {
    const std::string name = model + std::string(kPlanning);
    const auto counters = counters_.find(name);
    if (counters == counters_.end()) continue;
    const double peak = counters->second.at(kPlannedPeak);
    const double lower_bound = counters->second.at(kLowerBound);
    table.add_row({model, std::to_string(std::llround(peak)),
                   std::to_string(std::llround(lower_bound)), fixed(ratio(peak, lower_bound), 3),
                   fixed(time_of(name))});
  }
  if (!table.empty()) GetOutputStream() << "\nPlanned memory\n" << table.to_text();
}

}  // namespace ephost::benchmarks
