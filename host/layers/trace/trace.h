// The layer "trace": writes a line for each call between host and plugin, in both directions, with
// arguments, result and time. Payloads and tensors are shown by size and checksum.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/profiler.h"
#include "host/layers/layer.h"

namespace ephost::layers {

enum class TraceFormat {
  kText,  // a line when a call begins and one when it ends, indented by its depth
  kJson   // the same as JSON objects
};

struct TraceOptions {
  TraceFormat format = TraceFormat::kText;
  bool graph_reads = false;  // also the many calls of eph_graph_api
  // Gets each line, with its newline, from whichever thread makes the call; calls do not overlap.
  // What it throws ends the trace.
  std::function<void(std::string_view line)> write;
  // Gets each call as an event of the category "abi"; null: none.
  std::shared_ptr<Profiler> profiler;
};

[[nodiscard]] std::shared_ptr<Layer> make_trace(TraceOptions options);

}  // namespace ephost::layers
