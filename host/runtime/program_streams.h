// The streams of a program: the devices that its steps are enqueued on, and the plan for that.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/plan/streams/stream_plan.h"

namespace ephost::runtime {

// Empty if nothing is enqueued.
struct ProgramStreams {
  std::vector<std::shared_ptr<const bridge::Device>> devices;  // by the plan's numbers
  std::vector<plan::StepQueue> queues;                         // by step
  std::vector<uint32_t> compute_streams;                       // by device: at most so many
  std::vector<uint64_t> native_queues;  // by device: of the application, for the first; 0: none
  plan::StreamAssignment assignment;
  plan::StreamPlan plan;  // for the program's own pattern
};

}  // namespace ephost::runtime
