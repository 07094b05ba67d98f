// The steps of a frame that are captured together and launched as one piece: computations that
// follow each other on one stream, where nothing waits in between.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/bridge/extensions/stream.h"
#include "host/plan/streams/stream_plan.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

struct CaptureRange {
  uint32_t first = 0;
  uint32_t last = 0;  // inclusive
  // What the operands of all steps had when it was captured, or last run.
  uint64_t placement = 0;
  std::unique_ptr<bridge::Capture> capture;
  uint32_t captures = 0;  // so far; a range whose operands keep moving is captured no more

  [[nodiscard]] uint32_t steps() const { return last - first + 1; }
};

// Empty unless the places of all values are known before the run.
[[nodiscard]] std::vector<CaptureRange> find_capture_ranges(const Program& program);

}  // namespace ephost::runtime
