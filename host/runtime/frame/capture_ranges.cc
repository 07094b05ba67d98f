#include "host/runtime/frame/capture_ranges.h"

namespace ephost::runtime {
namespace {

bool is_capturable(const Program& program, uint32_t step) {
  const bridge::Computation* const computation = program.computation(step);
  return computation != nullptr && computation->is_capturable() &&
         computation->enqueues_on()->has_captures() && computation->call_limit() == nullptr &&
         computation->host_alignment() <= kAlignment;
}

}  // namespace

std::vector<CaptureRange> find_capture_ranges(const Program& program) {
  std::vector<CaptureRange> ranges;
  if (!program.is_static() || !program.captures_streams()) return ranges;
  const plan::StreamPlan& plan = program.streams().plan;
  const auto count = static_cast<uint32_t>(program.steps().size());
  for (uint32_t first = 0; first < count; ++first) {
    if (!is_capturable(program, first)) continue;
    uint32_t last = first;
    while (last + 1 < count && !plan.is_recorded[last] && plan.waits_of(last + 1).empty() &&
           plan.stream_of[last + 1] == plan.stream_of[first] && is_capturable(program, last + 1)) {
      ++last;
    }
    // One alone gains nothing.
    if (last > first) ranges.push_back({.first = first, .last = last});
    first = last;
  }
  return ranges;
}

}  // namespace ephost::runtime
