// The metrics of an environment's sessions and compilations. Everything but runs is rare enough
// for a lock; runs have meters of their own (run_meter.h). An environment that counts nothing has
// no Metrics, so callers check first whether there is one.
#pragma once

#include <ephost/status.h>
#include <ephost/types/metrics.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "host/session/metrics/duration_histogram.h"
#include "host/session/metrics/run_meter.h"

namespace ephost::session {

// In the order of the report; what they mean is said in metrics.cc.
enum class Family : uint8_t {
  kBuildInfo,
  kSessions,
  kSessionSeconds,
  kLiveSessions,
  kPlannedBytes,
  kWeightBytes,
  kCompilations,
  kCompilationSeconds,
  kProviderSeconds,
  kPartitions,
  kFallbacks,
  kFailures,
  kProviderFailures,
  kCacheUses,
  kCacheStores,
  kCacheRejections,
  kCacheReusedContexts,
  kSpecializations,
  kSpecializationSeconds,
  kRuns,
  kRunSeconds,
  kRunsInProgress,
  kRunInputBytes,
  kRunOutputBytes,
};
inline constexpr size_t kFamilies = static_cast<size_t>(Family::kRunOutputBytes) + 1;

// The values of a family's labels, in their order.
using LabelValues = std::vector<std::string>;

class Metrics {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Metrics(std::string_view version);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Any thread may call any function.
  void add(Family family, LabelValues labels, uint64_t by = 1);
  void subtract(Family family, const LabelValues& labels, uint64_t by);  // of a gauge
  void observe(Family family, LabelValues labels, Clock::duration duration);
  // Counts how something ended that the user waited for: in `total` and `seconds` by its outcome,
  // and a failure by `operation` and code too.
  void finish(Family total, Family seconds, std::string_view operation, const Status& status,
              Clock::duration duration);

  // The meter for runs of sessions with these providers; lives as long as this object.
  [[nodiscard]] RunMeter& runs_of(const std::string& providers);

  [[nodiscard]] MetricsReport read() const;

 private:
  void add_runs(std::vector<Metric>& metrics) const;

  mutable std::mutex mutex_;
  std::array<std::map<LabelValues, uint64_t>, kFamilies> numbers_;
  std::array<std::map<LabelValues, DurationHistogram>, kFamilies> histograms_;
  std::map<std::string, std::unique_ptr<RunMeter>> runs_;  // by providers
};

// The outcome of a run, or of anything else that the user waits for.
[[nodiscard]] RunOutcome outcome_of(const Status& status);

// Counts what `work`, which returns a Status or a Result, does; nothing if `metrics` is null.
template <class Work>
[[nodiscard]] auto metered(Metrics* metrics, Family total, Family seconds,
                           std::string_view operation, const Work& work) -> decltype(work()) {
  if (metrics == nullptr) return work();
  const auto start = Metrics::Clock::now();
  auto outcome = work();
  const auto taken = Metrics::Clock::now() - start;
  if constexpr (std::is_same_v<decltype(outcome), Status>) {
    metrics->finish(total, seconds, operation, outcome, taken);
  } else {
    metrics->finish(total, seconds, operation, outcome.status(), taken);
  }
  return outcome;
}

// What something adds to gauges while it exists.
class GaugeShare {
 public:
  GaugeShare() = default;
  // `metrics` must outlive the share.
  explicit GaugeShare(Metrics& metrics) : metrics_(&metrics) {}
  GaugeShare(const GaugeShare&) = delete;
  GaugeShare& operator=(const GaugeShare&) = delete;
  GaugeShare(GaugeShare&& other) noexcept;
  GaugeShare& operator=(GaugeShare&& other) noexcept;
  ~GaugeShare();

  void add(Family family, LabelValues labels, uint64_t by);

 private:
  struct Part {
    Family family;
    LabelValues labels;
    uint64_t amount;
  };
  Metrics* metrics_ = nullptr;
  std::vector<Part> parts_;
};

}  // namespace ephost::session
