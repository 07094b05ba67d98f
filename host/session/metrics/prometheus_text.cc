#include "host/session/metrics/prometheus_text.h"

#include <string_view>

#include "host/base/format.h"
#include "host/base/printable.h"

namespace ephost::session {
namespace {

std::string_view type_name(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      break;
  }
  return "histogram";
}

// The format escapes quotation marks in label values only.
std::string escaped(std::string_view text, bool is_label) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\\\";
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '"' && is_label) {
      result += "\\\"";
    } else {
      result += c;
    }
  }
  return result;
}

// The format is UTF-8. `le` is the bound of a bucket; empty for any other line.
std::string labels_text(const MetricSample& sample, std::string_view le) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text +=
        formatted("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(printable(value), true));
  };
  for (const auto& [name, value] : sample.labels) add(name, value);
  if (!le.empty()) add("le", le);
  return text.empty() ? text : "{" + text + "}";
}

std::string histogram_text(const Metric& metric, const MetricSample& sample) {
  std::string text;
  for (size_t i = 0; i < metric.bounds.size() && i < sample.buckets.size(); ++i) {
    text += formatted("{}_bucket{} {}\n", metric.name,
                      labels_text(sample, formatted("{}", metric.bounds[i])), sample.buckets[i]);
  }
  text += formatted("{}_bucket{} {}\n", metric.name, labels_text(sample, "+Inf"), sample.value);
  const std::string labels = labels_text(sample, "");
  text += formatted("{}_sum{} {}\n", metric.name, labels, sample.sum);
  return text + formatted("{}_count{} {}\n", metric.name, labels, sample.value);
}

}  // namespace

std::string prometheus_text(const MetricsReport& report) {
  std::string text;
  for (const Metric& metric : report.metrics) {
    text += formatted("# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name, escaped(metric.help, false),
                      type_name(metric.type));
    for (const MetricSample& sample : metric.samples) {
      text += metric.type == MetricType::kHistogram
                  ? histogram_text(metric, sample)
                  : formatted("{}{} {}\n", metric.name, labels_text(sample, ""), sample.value);
    }
  }
  return text;
}

}  // namespace ephost::session
