#include "host/plan/memory_pattern.h"

#include <algorithm>
#include <map>
#include <string>

#include "host/base/format.h"

namespace ephost::plan {
namespace {

// The buffers and workspaces in the block of one location, and where their offsets are stored.
struct Contents {
  std::vector<Buffer> buffers;
  std::vector<uint64_t*> offsets;
};

// The size of each buffer by its root's value id; nothing if it is unknown.
std::vector<std::optional<uint64_t>> buffer_sizes(const AllocationPlan& plan,
                                                  std::span<const std::optional<uint64_t>> sizes) {
  const auto size_of = [&](ValueId id) {
    return sizes.empty() ? plan.values[id].bytes : sizes[id];
  };
  std::vector<std::optional<uint64_t>> result(plan.values.size());
  for (const BufferPlan& buffer : plan.buffers) result[buffer.root] = size_of(buffer.root);
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    if (plan.values[id].kind != AllocKind::kReuse) continue;
    std::optional<uint64_t>& size = result[plan.values[id].reused];
    const std::optional<uint64_t> own = size_of(id);
    if (size && own) size = std::max(*size, plan.values[id].offset + *own);
  }
  return result;
}

std::map<uint32_t, Contents> collect_contents(const AllocationPlan& plan,
                                              std::span<const std::optional<uint64_t>> sizes,
                                              MemoryPattern& pattern) {
  const std::vector<std::optional<uint64_t>> bytes = buffer_sizes(plan, sizes);
  std::map<uint32_t, Contents> contents;
  const auto add = [&](uint32_t location, Buffer buffer, uint64_t& offset) {
    contents[location].buffers.push_back(buffer);
    contents[location].offsets.push_back(&offset);
  };
  for (const BufferPlan& buffer : plan.buffers) {
    if (plan.values[buffer.root].kind != AllocKind::kAllocate || !bytes[buffer.root]) continue;
    add(buffer.location, {buffer.first_pc, buffer.last_pc + 1, *bytes[buffer.root]},
        pattern.offsets[buffer.root]);
  }
  for (const Workspace& workspace : plan.workspaces) {
    add(workspace.location, {workspace.pc, workspace.pc + 1, workspace.bytes},
        pattern.workspace_offsets[workspace.pc]);
  }
  return contents;
}

}  // namespace

Result<MemoryPattern> plan_memory(const AllocationPlan& plan,
                                  std::span<const std::optional<uint64_t>> sizes,
                                  const MemoryOptions& options) {
  if (!sizes.empty() && sizes.size() != plan.values.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("cannot plan memory: there are {} values but {} sizes",
                            plan.values.size(), sizes.size()));
  }
  MemoryPattern pattern;
  pattern.alignment = options.alignment;
  pattern.offsets.assign(plan.values.size(), kNoOffset);
  pattern.workspace_offsets.assign(plan.steps, kNoOffset);
  if (!options.enable_mem_pattern) return pattern;
  for (auto& [location, contents] : collect_contents(plan, sizes, pattern)) {
    uint64_t alignment = options.alignment;
    if (location < options.alignments.size()) {
      alignment = std::max(alignment, options.alignments[location]);
    }
    EPHOST_ASSIGN_OR_RETURN(const Placement placement,
                            place_buffers(contents.buffers, {.alignment = alignment,
                                                             .search_work = options.search_work}));
    for (size_t i = 0; i < contents.offsets.size(); ++i) {
      *contents.offsets[i] = placement.offsets[i];
    }
    pattern.blocks.push_back(
        {location, placement.peak, placement.lower_bound, placement.proved_optimal, alignment});
  }
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    if (plan.values[id].kind != AllocKind::kReuse) continue;
    const uint64_t base = pattern.offsets[plan.values[id].reused];
    if (base != kNoOffset) pattern.offsets[id] = base + plan.values[id].offset;
  }
  return pattern;
}

}  // namespace ephost::plan
