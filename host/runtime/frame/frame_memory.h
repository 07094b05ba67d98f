// The memory of a frame: a block for the memory pattern in each location, workspaces of steps, and
// pooled blocks for open buffers, whose size is not known before a run. It knows no values.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/device_memory.h"
#include "host/runtime/memory_pool.h"
#include "host/runtime/pattern_cache.h"
#include "host/runtime/program.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// Scratch memory on a device, for one step.
struct DeviceScratch {
  uint32_t location = plan::kHostLocation;
  std::byte* data = nullptr;
};

class FrameMemory {
 public:
  // Holds no memory before `bind`.
  explicit FrameMemory(const Program& program);
  FrameMemory(const FrameMemory&) = delete;
  FrameMemory& operator=(const FrameMemory&) = delete;

  // ---- The memory pattern. Not while steps run.

  // Makes room for a traced pattern, or with null for the program's own one. FAIL where memory runs
  // out; then no pattern is bound.
  [[nodiscard]] Status bind(std::shared_ptr<const TracedPattern> traced);
  [[nodiscard]] bool is_bound_to(const std::shared_ptr<const TracedPattern>& traced) const {
    return is_bound_ && traced_ == traced;
  }
  [[nodiscard]] const plan::MemoryPattern& pattern() const {
    return traced_ ? traced_->pattern : program_.pattern();
  }
  // Null while the program's own pattern is bound.
  [[nodiscard]] const TracedPattern* traced() const { return traced_.get(); }
  // The streams of the pattern; empty if nothing is enqueued.
  [[nodiscard]] const plan::StreamPlan& streams() const {
    return traced_ ? traced_->streams : program_.streams().plan;
  }
  // Where the pattern places the value; null if it does not.
  [[nodiscard]] std::byte* place(graph::ValueId id) const;
  // The workspace of a step; null if it has none. Steps whose workspace is outside of the pattern
  // share one for each lane.
  [[nodiscard]] std::byte* workspace(uint32_t step, uint32_t lane) const {
    return uses_lane_workspace_[step] ? lane_workspaces_[lane].get() : workspaces_[step];
  }

  // ---- Open buffers. Steps that run in parallel may call these at the same time.

  // A block for the value, or for the buffer that it is the root of, instead of the one that it
  // had. OUT_OF_MEMORY where memory runs out; then it keeps that one.
  [[nodiscard]] Result<std::byte*> take(graph::ValueId id, uint64_t bytes);
  // Owns a tensor that becomes the value's memory until it is released.
  [[nodiscard]] Value& adopt(graph::ValueId id);
  // Calls `release` with the root of each open buffer that no step needs after this one. In the
  // plan's order the last user of a buffer is known, and so are streams; steps in parallel count
  // the users down.
  template <class Release>
  void for_each_released(size_t step, Release&& release);
  // Gives back the memory of an open buffer.
  void release(graph::ValueId root);
  // Call before the steps of a parallel run.
  void reset_users();

  // Memory in a location of a device, until it is given back: what is enqueued on the step's stream
  // may use it longer.
  [[nodiscard]] Result<DeviceScratch> take_scratch(uint32_t location, uint64_t bytes, size_t step);
  void give_back(const DeviceScratch& scratch);

  // Gives back everything that was taken.
  void end_run();

  // Bytes of host memory that are held between runs, for tests and reports.
  [[nodiscard]] uint64_t held_bytes() const { return block_bytes_ + pool_.bytes(); }

 private:
  Status reserve_blocks();
  Status reserve_host_block(uint64_t bytes);
  Status bind_workspaces();
  Status reserve_lane_workspaces();
  void give_back(uint32_t location, const std::byte* memory);
  // The stream of the step that makes the value.
  [[nodiscard]] uint32_t stream_of(graph::ValueId id) const;
  [[nodiscard]] std::byte* block_at(uint32_t location) const {
    if (location != plan::kHostLocation) return devices_[location - 1].block();
    return staged_block_.data() != nullptr ? staged_block_.data() : block_.get();
  }

  const Program& program_;
  std::shared_ptr<const TracedPattern> traced_;
  bool is_bound_ = false;
  AlignedMemory block_;
  bridge::DeviceBlock staged_block_;  // in place of it, where a device has memory for staging
  uint64_t block_bytes_ = 0;
  std::vector<DeviceArena> devices_;            // location n is entry n-1
  std::vector<std::byte*> workspaces_;          // by step
  std::vector<bool> uses_lane_workspace_;       // by step
  std::vector<AlignedMemory> lane_workspaces_;  // by lane
  uint64_t lane_workspace_bytes_ = 0;           // of each of them
  // By open buffer: steps that still use it. Null where steps run one after the other.
  std::unique_ptr<std::atomic<uint32_t>[]> users_left_;

  std::mutex mutex_;  // guards what follows, and the pools of `devices_`
  MemoryPool pool_;
  std::map<graph::ValueId, const std::byte*> pooled_;
  std::map<graph::ValueId, Value> adopted_;
};

template <class Release>
void FrameMemory::for_each_released(size_t step, Release&& release) {
  if (program_.has_streams()) {
    for (const graph::ValueId root : streams().releases[step]) release(root);
    return;
  }
  if (users_left_ == nullptr) {
    for (const graph::ValueId root : program_.released_after(step)) release(root);
    return;
  }
  for (const uint32_t buffer : program_.open_buffers_of(step)) {
    if (users_left_[buffer].fetch_sub(1, std::memory_order_acq_rel) == 1) {
      release(program_.open_buffers()[buffer].root);
    }
  }
}

}  // namespace ephost::runtime
