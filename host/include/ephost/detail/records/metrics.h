// Fields of records and of the plain values that they become: metrics.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/metrics.h>

namespace ephost::detail {

template <>
struct RecordOf<MetricSample> {
  using C = ephost_metric_sample;
  static constexpr auto kFields =
      std::tuple(field(&MetricSample::labels, &C::labels, &C::label_count),
                 field(&MetricSample::value, &C::value), field(&MetricSample::sum, &C::sum),
                 field(&MetricSample::buckets, &C::buckets, &C::bucket_count));
};

template <>
struct RecordOf<Metric> {
  using C = ephost_metric;
  static constexpr auto kFields = std::tuple(
      field(&Metric::name, &C::name), field(&Metric::help, &C::help),
      field(&Metric::type, &C::type), field(&Metric::bounds, &C::bounds, &C::bound_count),
      field(&Metric::samples, &C::samples, &C::sample_count));
};

template <>
struct RecordOf<MetricsReport> {
  using C = ephost_metrics;
  static constexpr auto kFields =
      std::tuple(field(&MetricsReport::metrics, &C::metrics, &C::metric_count));
};

}  // namespace ephost::detail
