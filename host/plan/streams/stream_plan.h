// The stream plan: on which stream of a device each step is enqueued, and where a stream, or the
// host, waits for another one. Steps are enqueued in the plan's order by one thread; a step that
// the host runs itself ends before the next one is enqueued.
//
// Waits are found with vector clocks: what is known to be done before a step begins, for each
// stream, follows from the order of its own stream and from the waits so far. Only what a step
// depends on and does not know to be done is waited for. The host waits in between where streams
// are of different devices, and for what a step reads in host memory while it is enqueued.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"

namespace ephost::plan {

inline constexpr uint32_t kHostStream = 0;
inline constexpr uint32_t kNoDevice = UINT32_MAX;

enum class StreamPurpose : uint8_t { kCompute, kCopyIn, kCopyOut };

// The device that does the work of a step; kNoDevice where the host waits for its end.
struct StepQueue {
  uint32_t device = kNoDevice;
  StreamPurpose purpose = StreamPurpose::kCompute;
  // Whether the step's inputs in host memory are read while it is enqueued.
  bool is_read_by_host = true;
};

struct PlannedStream {
  uint32_t device = kNoDevice;
  StreamPurpose purpose = StreamPurpose::kCompute;
  uint32_t number = 0;  // among those of the device with this purpose
  friend bool operator==(const PlannedStream&, const PlannedStream&) = default;
};

// Which streams there are, and which of them does each step. Follows from what steps read, wherever
// it lies.
struct StreamAssignment {
  std::vector<PlannedStream> streams;  // stream n is entry n-1
  std::vector<uint32_t> stream_of;     // by step; kHostStream where the host runs it
};

// A step waits for an earlier one of another stream: its stream does, or the host before it
// enqueues the step.
struct PlannedWait {
  uint32_t step = kNoStep;
  bool is_by_host = false;
};

struct StreamPlan : StreamAssignment {
  std::vector<bool> is_recorded;     // by step: whether another stream, or the host, waits for it
  std::vector<uint32_t> first_wait;  // by step, and one past the end: index into `waits`
  std::vector<PlannedWait> waits;    // the earlier steps that it waits for
  // By step and stream, streams of a step side by side, the host's left out: the host knows that
  // the steps of the stream before this number are done when the step has been enqueued.
  std::vector<uint32_t> host_knows;
  // By step: the open buffers, by root, that are given back after it. They are those that the
  // pattern does not place, once their users are known to be done, or, in the memory of a device,
  // once they are enqueued if all of them are on one stream. The others are given back after the
  // run.
  std::vector<std::vector<ValueId>> releases;

  [[nodiscard]] bool empty() const { return streams.empty(); }
  [[nodiscard]] std::span<const PlannedWait> waits_of(uint32_t step) const {
    return {waits.data() + first_wait[step], first_wait[step + 1] - first_wait[step]};
  }
  // Whether the host knows that `user` is done once `step` has been enqueued.
  [[nodiscard]] bool host_knows_done(uint32_t step, uint32_t user) const {
    const uint32_t stream = stream_of[user];
    if (stream == kHostStream) return user <= step;
    return user < host_knows[size_t{step} * streams.size() + stream - 1];
  }
};

// Empty if the host runs all steps. `queues` has one entry for each step, `compute_streams` one for
// each device: how many streams of computations it gets, at least 1.
[[nodiscard]] Result<StreamAssignment> assign_streams(const ExecutionPlan& execution,
                                                      const AllocationPlan& allocation,
                                                      std::span<const StepQueue> queues,
                                                      std::span<const uint32_t> compute_streams);

// MemoryOptions::step_groups that keep the streams of a device apart; empty where each device has
// one stream of computations only, or none.
[[nodiscard]] std::vector<uint32_t> memory_groups(const StreamAssignment& assignment);

// Empty if the assignment is. `sizes` as given to plan_memory for the pattern.
[[nodiscard]] StreamPlan plan_streams(const ExecutionPlan& execution,
                                      const AllocationPlan& allocation,
                                      const MemoryPattern& pattern,
                                      std::span<const StepQueue> queues,
                                      const StreamAssignment& assignment,
                                      std::span<const std::optional<uint64_t>> sizes = {});

}  // namespace ephost::plan
