#include "host/session/metrics/metrics.h"

#include <initializer_list>
#include <utility>

#include "host/base/status_kinds.h"

namespace ephost::session {
namespace {

struct Description {
  std::string_view name;
  std::string_view help;
  MetricType type;
  std::vector<std::string_view> labels;
};

// By Family. host/include/README.md has the same list, and a test compares both.
const std::array<Description, kFamilies>& descriptions() {
  using enum MetricType;
  static const std::array<Description, kFamilies> kAll = {{
      {"ephost_build_info", "The version of the library; always 1.", kGauge, {"version"}},
      {"ephost_sessions_total", "Sessions whose creation has ended.", kCounter, {"outcome"}},
      {"ephost_session_creation_seconds", "Time to create a session.", kHistogram, {"outcome"}},
      {"ephost_live_sessions", "Sessions that exist.", kGauge, {}},
      {"ephost_planned_bytes",
       "Memory that was planned for one run at a time of the sessions that exist, their "
       "specialisations included.",
       kGauge,
       {"memory"}},
      {"ephost_weight_bytes", "Constants that the sessions that exist keep.", kGauge, {}},
      {"ephost_compilations_total",
       "Compilations to context models that have ended.",
       kCounter,
       {"outcome"}},
      {"ephost_compilation_seconds",
       "Time to compile a model to a context model.",
       kHistogram,
       {"outcome"}},
      {"ephost_provider_compile_seconds",
       "Time of one call of a provider that compiles or restores partitions.",
       kHistogram,
       {"provider", "action"}},
      {"ephost_partitions_total",
       "Partitions that a provider has compiled or restored.",
       kCounter,
       {"provider", "action"}},
      {"ephost_fallbacks_total",
       "Partitions and nodes that a provider failed to compile or restore and that others got.",
       kCounter,
       {"provider", "code"}},
      {"ephost_failures_total",
       "Failures that the application was told.",
       kCounter,
       {"operation", "code"}},
      {"ephost_provider_failures_total",
       "Failures of a provider's own functions.",
       kCounter,
       {"provider", "action", "code"}},
      {"ephost_context_cache_total",
       "Sessions, specialisations and compilations that the cache store was asked for.",
       kCounter,
       {"outcome"}},
      {"ephost_context_cache_stores_total",
       "Entries that were added to the cache store.",
       kCounter,
       {}},
      {"ephost_context_cache_rejections_total",
       "Entries of the cache store that were set aside as damaged.",
       kCounter,
       {}},
      {"ephost_context_cache_reused_contexts_total",
       "Partitions that were taken over from older entries of the cache store.",
       kCounter,
       {}},
      {"ephost_specializations_total",
       "Models that were specialised, or loaded in specialised form, for the shapes of runs.",
       kCounter,
       {"outcome"}},
      {"ephost_specialization_seconds", "Time to specialise a model.", kHistogram, {"outcome"}},
      {"ephost_runs_total", "Runs that have ended.", kCounter, {"providers", "outcome"}},
      {"ephost_run_seconds", "Time of a run.", kHistogram, {"providers", "outcome"}},
      {"ephost_runs_in_progress", "Runs that have begun and not ended.", kGauge, {"providers"}},
      {"ephost_run_input_bytes_total", "Tensors that runs were given.", kCounter, {"providers"}},
      {"ephost_run_output_bytes_total",
       "Tensors that runs have returned.",
       kCounter,
       {"providers"}},
  }};
  return kAll;
}

const Description& description_of(Family family) {
  return descriptions()[static_cast<size_t>(family)];
}

MetricSample make_sample(Family family, const LabelValues& values, uint64_t value) {
  const Description& described = description_of(family);
  MetricSample sample{.value = value};
  for (size_t i = 0; i < described.labels.size(); ++i) {
    sample.labels.emplace_back(described.labels[i], values[i]);
  }
  return sample;
}

MetricSample make_sample(Family family, const LabelValues& values,
                         const DurationHistogram& histogram) {
  uint64_t count = 0;
  std::vector<uint64_t> buckets;
  for (size_t i = 0; i < kBoundCount; ++i) {
    count += histogram.counts[i];
    buckets.push_back(count);
  }
  MetricSample sample = make_sample(family, values, count + histogram.counts[kBoundCount]);
  sample.sum = static_cast<double>(histogram.sum.count()) / 1e9;
  sample.buckets = std::move(buckets);
  return sample;
}

constexpr std::array<std::string_view, kRunOutcomes> kRunOutcomeNames = {"succeeded", "failed",
                                                                         "cancelled", "expired"};

}  // namespace

Metrics::Metrics(std::string_view version) {
  add(Family::kBuildInfo, {std::string(version)});
  // What has no labels is reported from the beginning, so that its first increase is seen.
  for (size_t i = 0; i < kFamilies; ++i) {
    if (descriptions()[i].labels.empty()) numbers_[i][{}] = 0;
  }
}

void Metrics::add(Family family, LabelValues labels, uint64_t by) {
  const std::lock_guard lock(mutex_);
  numbers_[static_cast<size_t>(family)][std::move(labels)] += by;
}

void Metrics::subtract(Family family, const LabelValues& labels, uint64_t by) {
  const std::lock_guard lock(mutex_);
  auto& numbers = numbers_[static_cast<size_t>(family)];
  const auto found = numbers.find(labels);
  if (found != numbers.end()) found->second -= by;
}

void Metrics::observe(Family family, LabelValues labels, Clock::duration duration) {
  const std::lock_guard lock(mutex_);
  histograms_[static_cast<size_t>(family)][std::move(labels)].observe(duration);
}

void Metrics::finish(Family total, Family seconds, std::string_view operation, const Status& status,
                     Clock::duration duration) {
  const std::string outcome(kRunOutcomeNames[static_cast<size_t>(outcome_of(status))]);
  add(total, {outcome});
  observe(seconds, {outcome}, duration);
  if (!status.ok()) {
    add(Family::kFailures, {std::string(operation), std::string(status_code_name(status.code()))});
  }
}

RunMeter& Metrics::runs_of(const std::string& providers) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<RunMeter>& meter = runs_[providers];
  if (meter == nullptr) meter = std::make_unique<RunMeter>();
  return *meter;
}

MetricsReport Metrics::read() const {
  MetricsReport report;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < kFamilies; ++i) {
    const Description& described = descriptions()[i];
    const auto family = static_cast<Family>(i);
    Metric& metric = report.metrics.emplace_back(Metric{.name = std::string(described.name),
                                                        .help = std::string(described.help),
                                                        .type = described.type});
    if (described.type == MetricType::kHistogram) {
      for (size_t bucket = 0; bucket < kBoundCount; ++bucket) {
        metric.bounds.push_back(bound_seconds(bucket));
      }
    }
    for (const auto& [labels, number] : numbers_[i]) {
      metric.samples.push_back(make_sample(family, labels, number));
    }
    for (const auto& [labels, histogram] : histograms_[i]) {
      metric.samples.push_back(make_sample(family, labels, histogram));
    }
  }
  add_runs(report.metrics);
  return report;
}

void Metrics::add_runs(std::vector<Metric>& metrics) const {
  const auto add_sample = [&](Family family, const LabelValues& labels, const auto& value) {
    metrics[static_cast<size_t>(family)].samples.push_back(make_sample(family, labels, value));
  };
  for (const auto& [providers, meter] : runs_) {
    const RunMeter::Counts counts = meter->read();
    for (size_t outcome = 0; outcome < kRunOutcomes; ++outcome) {
      const LabelValues labels = {providers, std::string(kRunOutcomeNames[outcome])};
      uint64_t runs = 0;
      for (const uint64_t count : counts.runs[outcome].counts) runs += count;
      add_sample(Family::kRuns, labels, runs);
      if (runs > 0) add_sample(Family::kRunSeconds, labels, counts.runs[outcome]);
    }
    add_sample(Family::kRunsInProgress, {providers}, counts.in_progress);
    add_sample(Family::kRunInputBytes, {providers}, counts.bytes.inputs);
    add_sample(Family::kRunOutputBytes, {providers}, counts.bytes.outputs);
  }
}

RunOutcome outcome_of(const Status& status) {
  if (status.ok()) return RunOutcome::kSucceeded;
  if (status.code() == StatusCode::kDeadlineExceeded) return RunOutcome::kExpired;
  return is_cancellation(status) ? RunOutcome::kCancelled : RunOutcome::kFailed;
}

GaugeShare::GaugeShare(GaugeShare&& other) noexcept
    : metrics_(std::exchange(other.metrics_, nullptr)), parts_(std::move(other.parts_)) {}

GaugeShare& GaugeShare::operator=(GaugeShare&& other) noexcept {
  std::swap(metrics_, other.metrics_);
  std::swap(parts_, other.parts_);
  return *this;
}

GaugeShare::~GaugeShare() {
  if (metrics_ == nullptr) return;
  for (const Part& part : parts_) metrics_->subtract(part.family, part.labels, part.amount);
}

void GaugeShare::add(Family family, LabelValues labels, uint64_t by) {
  if (metrics_ == nullptr) return;
  parts_.push_back({family, labels, by});
  metrics_->add(family, std::move(labels), by);
}

}  // namespace ephost::session
