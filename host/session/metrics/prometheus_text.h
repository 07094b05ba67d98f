// Metrics in Prometheus' text exposition format, version 0.0.4.
#pragma once

#include <ephost/types/metrics.h>

#include <string>

namespace ephost::session {

// Each metric with its HELP and TYPE lines, also if it has no sample. Label values may be any text.
[[nodiscard]] std::string prometheus_text(const MetricsReport& report);

}  // namespace ephost::session
