#include "host/cli/report/plan_map.h"

#include <algorithm>
#include <utility>

#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

class GraphMap {
 public:
  GraphMap(const session::PreparedModel& model, const session::PreparedGraph& prepared)
      : model_(model), graph_(model.graph_of(prepared)), prepared_(prepared) {}

  MemoryMap make() {
    map_.name = prepared_.path.empty() ? graph_.name : "body " + prepared_.path;
    map_.providers = prepared_.partitioning.providers;
    map_.end = prepared_.execution.steps.size();
    for (const plan::MemoryBlock& block : prepared_.pattern.blocks) {
      map_.blocks.push_back({.name = block.location == plan::kHostLocation
                                         ? "0"
                                         : model_.location_name(block.location),
                             .location = block.location,
                             .peak = block.bytes,
                             .lower_bound = block.lower_bound,
                             .proved_optimal = block.proved_optimal});
    }
    ranges_.resize(map_.blocks.size());
    add_values();
    add_workspaces();
    for (size_t i = 0; i < map_.blocks.size(); ++i) map_.blocks[i].live = live_bytes(ranges_[i]);
    add_steps();
    return std::move(map_);
  }

 private:
  // Index of the block at a location that has one.
  [[nodiscard]] size_t block_at(uint32_t location) const {
    const auto found = std::ranges::find(map_.blocks, location, &MapBlock::location);
    return static_cast<size_t>(found - map_.blocks.begin());
  }

  // What is planned by size counts rounded up, as in peak and lower bound.
  void add_range(size_t block, uint64_t begin, uint64_t end, uint64_t size) {
    const uint64_t alignment = prepared_.pattern.blocks[block].alignment;
    ranges_[block].push_back({begin, end, (size + alignment - 1) / alignment * alignment});
  }

  [[nodiscard]] const std::optional<uint64_t>& root_bytes(const plan::ValuePlan& value) const {
    return prepared_.allocation.values[value.reused].bytes;
  }

  void add_values() {
    const plan::AllocationPlan& plan = prepared_.allocation;
    for (graph::ValueId id = 0; id < plan.values.size(); ++id) {
      const plan::ValuePlan& value = plan.values[id];
      const uint64_t offset = prepared_.pattern.offsets[id];
      const bool is_made = value.kind == plan::AllocKind::kAllocate ||
                           value.kind == plan::AllocKind::kReuse ||
                           value.kind == plan::AllocKind::kAllocateOutput;
      if (offset == plan::kNoOffset) {
        if (is_made) ++map_.unplaced;
        continue;
      }
      const size_t block = block_at(value.location);
      const uint64_t size = value.bytes ? *value.bytes : root_bytes(value).value_or(0);
      map_.blocks[block].boxes.push_back(
          {.name = graph_.values[id].name,
           .what = graph::to_string(graph_.values[id].type, model_.model.symbols) + ", " +
                   std::string(plan::alloc_kind_name(value.kind)) +
                   (value.reused == id ? "" : " of " + graph_.values[value.reused].name),
           .provider = prepared_.execution.steps[value.first_pc].provider,
           .begin = value.first_pc,
           .end = uint64_t{value.last_pc} + 1,
           .offset = offset,
           .size = size});
    }
    for (const plan::BufferPlan& buffer : plan.buffers) {
      if (prepared_.pattern.offsets[buffer.root] == plan::kNoOffset || !buffer.bytes) continue;
      add_range(block_at(buffer.location), buffer.first_pc, uint64_t{buffer.last_pc} + 1,
                *buffer.bytes);
    }
  }

  void add_workspaces() {
    for (const plan::Workspace& workspace : prepared_.allocation.workspaces) {
      const uint64_t offset = prepared_.pattern.workspace_offsets[workspace.pc];
      if (offset == plan::kNoOffset) continue;
      const plan::Step& step = prepared_.execution.steps[workspace.pc];
      const size_t block = block_at(workspace.location);
      map_.blocks[block].boxes.push_back({.name = "workspace of " + name_of(step),
                                          .provider = step.provider,
                                          .begin = workspace.pc,
                                          .end = uint64_t{workspace.pc} + 1,
                                          .offset = offset,
                                          .size = workspace.bytes,
                                          .is_workspace = true});
      add_range(block, workspace.pc, uint64_t{workspace.pc} + 1, workspace.bytes);
    }
  }

  [[nodiscard]] std::string name_of(const plan::Step& step) const {
    if (step.partition == plan::kNoPartition) return graph::describe_node(graph_, step.node);
    return "partition " + prepared_.partitioning.partitions[step.partition].name;
  }

  [[nodiscard]] std::string operator_of(const plan::Step& step) const {
    if (step.partition != plan::kNoPartition) {
      return counted(prepared_.partitioning.partitions[step.partition].nodes.size(), "node");
    }
    const graph::Node& node = graph_.nodes[step.node];
    return (node.domain.empty() ? "" : node.domain + ".") + node.op_type;
  }

  void add_steps() {
    for (const plan::Step& step : prepared_.execution.steps) {
      map_.steps.push_back({.node = step.partition == plan::kNoPartition
                                        ? graph_.nodes[step.node].name
                                        : name_of(step),
                            .op = operator_of(step),
                            .provider = step.provider});
    }
    for (const MapBlock& block : map_.blocks) {
      for (size_t i = 0; i < block.live.size(); ++i) {
        const uint64_t end = i + 1 < block.live.size() ? block.live[i + 1].first : map_.end;
        for (uint64_t pc = block.live[i].first; pc < end; ++pc) {
          map_.steps[pc].live += block.live[i].second;
        }
      }
    }
  }

  const session::PreparedModel& model_;
  const graph::Graph& graph_;
  const session::PreparedGraph& prepared_;
  std::vector<std::vector<LiveRange>> ranges_;  // by block
  MemoryMap map_;
};

}  // namespace

std::vector<MemoryMap> maps_of(const session::PreparedModel& prepared) {
  std::vector<MemoryMap> maps;
  for (const session::PreparedGraph* one : prepared.graphs()) {
    maps.push_back(GraphMap(prepared, *one).make());
  }
  return maps;
}

MemoryMap map_of(const std::string& name, const plan::BufferTable& table,
                 const plan::Placement& placement) {
  MemoryMap map{.name = name};
  MapBlock block{.peak = placement.peak,
                 .lower_bound = placement.lower_bound,
                 .proved_optimal = placement.proved_optimal};
  std::vector<LiveRange> ranges;
  for (size_t i = 0; i < table.buffers.size(); ++i) {
    const plan::Buffer& buffer = table.buffers[i];
    map.end = std::max<uint64_t>(map.end, buffer.upper);
    ranges.push_back({buffer.lower, buffer.upper, buffer.size});
    block.boxes.push_back({.name = table.ids[i],
                           .begin = buffer.lower,
                           .end = buffer.upper,
                           .offset = placement.offsets[i],
                           .size = buffer.size});
  }
  block.live = live_bytes(ranges);
  map.blocks.push_back(std::move(block));
  return map;
}

}  // namespace ephost::cli
