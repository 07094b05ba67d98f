// Fields of records and of the plain values that they become: metrics.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/metrics.h>

namespace ephost::detail {

template <>
struct RecordOf<MetricSample> {
  using C = ephost_metric_sample;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&MetricSample::labels, &C::labels, &C::label_count);
    visit(&MetricSample::value, &C::value);
    visit(&MetricSample::sum, &C::sum);
    visit(&MetricSample::buckets, &C::buckets, &C::bucket_count);
  }
};

template <>
struct RecordOf<Metric> {
  using C = ephost_metric;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&Metric::name, &C::name);
    visit(&Metric::help, &C::help);
    visit(&Metric::type, &C::type);
    visit(&Metric::bounds, &C::bounds, &C::bound_count);
    visit(&Metric::samples, &C::samples, &C::sample_count);
  }
};

template <>
struct RecordOf<MetricsReport> {
  using C = ephost_metrics;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&MetricsReport::metrics, &C::metrics, &C::metric_count);
  }
};

}  // namespace ephost::detail
