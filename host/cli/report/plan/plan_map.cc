#include "host/cli/report/plan/plan_map.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/cli/report/output.h"
#include "host/cli/report/plan/critical_path.h"

namespace ephost::cli {
namespace {

class GraphMap {
 public:
  explicit GraphMap(const GraphPlan& plan) : plan_(plan) {}

  MemoryMap make(std::vector<double> seconds) {
    map_.step_seconds = std::move(seconds);
    map_.name = plan_.path.empty() ? plan_.name : "body " + plan_.path;
    map_.providers = plan_.providers;
    map_.end = plan_.steps.size();
    for (const PlannedBlock& block : plan_.blocks) {
      map_.blocks.push_back({.name = block.location == 0 ? "0" : block.memory,
                             .location = block.location,
                             .peak = block.peak_bytes,
                             .lower_bound = block.lower_bound_bytes,
                             .proved_optimal = block.proved_optimal});
    }
    add_values();
    add_workspaces();
    add_live_bytes();
    add_steps();
    add_streams();
    map_.notes = memory_notes(plan_);
    return std::move(map_);
  }

 private:
  // The index of the block of a location.
  [[nodiscard]] size_t block_at(uint32_t location) const {
    const auto found = std::ranges::find(map_.blocks, location, &MapBlock::location);
    return static_cast<size_t>(found - map_.blocks.begin());
  }

  void add_values() {
    for (const PlannedValue& value : plan_.values) {
      if (!value.offset) continue;
      map_.blocks[block_at(value.location)].boxes.push_back(
          {.name = value.name,
           .what =
               value.type + ", " + value.kind + (value.owns_buffer ? "" : " of " + value.buffer),
           .provider = plan_.steps[value.first_step].provider,
           .begin = value.first_step,
           .end = uint64_t{value.last_step} + 1,
           .offset = *value.offset,
           .size = value.bytes ? *value.bytes : value.buffer_bytes.value_or(0)});
    }
  }

  void add_workspaces() {
    for (const PlannedBuffer& buffer : plan_.buffers) {
      if (!buffer.is_workspace) continue;
      const PlannedStep& step = plan_.steps[buffer.first_step];
      const std::string& name = step.partition.empty() ? step.description : step.name;
      map_.blocks[block_at(buffer.location)].boxes.push_back({.name = "workspace of " + name,
                                                              .provider = step.provider,
                                                              .begin = buffer.first_step,
                                                              .end = uint64_t{buffer.last_step} + 1,
                                                              .offset = buffer.offset,
                                                              .size = buffer.bytes,
                                                              .is_workspace = true,
                                                              .inner_values = step.inner_values,
                                                              .inner_live = step.inner_live_bytes});
    }
  }

  // Sizes count rounded up to the alignment, as in peak and lower bound.
  void add_live_bytes() {
    std::vector<std::vector<LiveRange>> ranges(map_.blocks.size());
    for (const PlannedBuffer& buffer : plan_.buffers) {
      const size_t block = block_at(buffer.location);
      const uint64_t alignment = plan_.blocks[block].alignment;
      ranges[block].push_back({.begin = buffer.first_step,
                               .end = uint64_t{buffer.last_step} + 1,
                               .size = (buffer.bytes + alignment - 1) / alignment * alignment});
    }
    for (size_t i = 0; i < ranges.size(); ++i) map_.blocks[i].live = live_bytes(ranges[i]);
  }

  void add_steps() {
    for (const PlannedStep& step : plan_.steps) {
      map_.steps.push_back({.node = step.name,
                            .op = step.op,
                            .provider = step.provider,
                            .workspace = step.workspace_bytes,
                            .weights = step.constant_bytes,
                            .inner_values = step.inner_values,
                            .inner_live = step.inner_live_bytes});
    }
    for (const MapBlock& block : map_.blocks) {
      for (size_t i = 0; i < block.live.size(); ++i) {
        const uint64_t end = i + 1 < block.live.size() ? block.live[i + 1].first : map_.end;
        for (uint64_t step = block.live[i].first; step < end; ++step) {
          map_.steps[step].live += block.live[i].second;
        }
      }
    }
  }

  void add_streams() {
    const std::vector<uint32_t> path = critical_path(plan_.steps, map_.step_seconds);
    if (path.empty()) return;
    map_.streams = {"host"};
    for (size_t i = 0; i < map_.steps.size(); ++i) {
      const PlannedStep& step = plan_.steps[i];
      MapStep& drawn = map_.steps[i];
      drawn.waits = step.waits;
      drawn.waits.insert(drawn.waits.end(), step.host_waits.begin(), step.host_waits.end());
      if (step.stream.empty()) continue;
      const auto known = std::ranges::find(map_.streams, step.stream);
      drawn.lane = static_cast<uint32_t>(known - map_.streams.begin());
      if (known == map_.streams.end()) map_.streams.push_back(step.stream);
    }
    for (const uint32_t step : path) map_.steps[step].is_critical = true;
  }

  const GraphPlan& plan_;
  MemoryMap map_;
};

}  // namespace

std::vector<std::string> memory_notes(const GraphPlan& plan) {
  // What needs memory and has no place in a block, by the reason.
  uint64_t outputs = 0;
  uint64_t open = 0;
  uint64_t unplanned = 0;
  for (const PlannedValue& value : plan.values) {
    if (!value.is_allocated_by_runs) continue;
    ++(value.kind == "AllocateOutput" ? outputs : value.bytes ? unplanned : open);
  }
  std::vector<std::string> notes;
  if (plan.blocks.empty()) {
    notes.push_back(
        open > 0        ? "There is no block: the sizes of what steps pass on are known at run "
                          "time only."
        : unplanned > 0 ? "There is no block: memory is not planned."
                        : "There is no block, and none is needed: the steps read inputs and "
                          "constants, and write outputs of the graph.");
  }
  const auto add = [&](uint64_t count, std::string_view text) {
    if (count > 0) notes.push_back(counted(count, "value") + std::string(text));
  };
  add(outputs, " outside of blocks: outputs, in memory of the caller or of the run.");
  add(open, " outside of blocks: the size is known at run time only.");
  add(unplanned, " outside of blocks: of known size, but allocated when computed.");
  uint64_t weights = 0;
  uint64_t constants = 0;
  for (const PlannedValue& value : plan.values) {
    if (value.kind != "AllocateStatically") continue;
    ++constants;
    weights += value.bytes.value_or(0);
  }
  if (constants > 0) {
    notes.push_back(formatted("{} that kernels read, {}, outside of blocks.",
                              counted(constants, "constant"), bytes_text(weights)));
  }
  return notes;
}

MemoryMap map_of(const GraphPlan& plan, std::vector<double> seconds) {
  return GraphMap(plan).make(std::move(seconds));
}

MemoryMap map_of(const std::string& name, std::span<const BufferRequest> requests,
                 const BufferPlacement& placement) {
  MemoryMap map{.name = name};
  MapBlock block{.peak = placement.peak_bytes,
                 .lower_bound = placement.lower_bound_bytes,
                 .proved_optimal = placement.proved_optimal};
  std::vector<LiveRange> ranges;
  for (size_t i = 0; i < requests.size(); ++i) {
    const BufferRequest& request = requests[i];
    map.end = std::max<uint64_t>(map.end, request.upper);
    ranges.push_back({request.lower, request.upper, request.size});
    block.boxes.push_back({.name = request.id,
                           .begin = request.lower,
                           .end = request.upper,
                           .offset = placement.offsets[i],
                           .size = request.size});
  }
  block.live = live_bytes(ranges);
  map.blocks.push_back(std::move(block));
  return map;
}

}  // namespace ephost::cli
