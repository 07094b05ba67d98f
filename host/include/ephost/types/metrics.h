// Metrics of an environment: named numbers and distributions, in the model of Prometheus.
// The names and what they mean are listed in host/include/README.md (Metrics).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ephost {

enum class MetricType {
  kCounter = 0,    // only grows
  kGauge = 1,      // how much there is now
  kHistogram = 2,  // how often what was observed was at most each of the bounds
};

// What was counted under one combination of labels.
struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;  // name and value
  uint64_t value = 0;                                       // of a histogram: all observations
  double sum = 0;                                           // of a histogram: of what was observed
  // For a histogram, beside `bounds`: the number of observations of at most that much.
  std::vector<uint64_t> buckets;
};

struct Metric {
  std::string name;  // e.g. "ephost_runs_total"
  std::string help;  // one sentence
  MetricType type = MetricType::kCounter;
  std::vector<double> bounds;         // of a histogram, ascending; infinity is not among them
  std::vector<MetricSample> samples;  // by labels; none where nothing was counted yet
};

struct MetricsReport {
  std::vector<Metric> metrics;
};

}  // namespace ephost
