#include "host/plan/memory_pattern.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/plan/placement/placement.h"

namespace ephost::plan {
namespace {

// Buffers and workspaces, and where their offsets are stored.
struct Contents {
  std::vector<Buffer> buffers;
  std::vector<uint64_t*> offsets;
};
// Those in the block of one location, by group.
using BlockContents = std::map<uint32_t, Contents>;

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

std::map<uint32_t, BlockContents> collect_contents(const AllocationPlan& plan,
                                                   std::span<const std::optional<uint64_t>> sizes,
                                                   std::span<const uint32_t> step_groups,
                                                   MemoryPattern& pattern) {
  const std::vector<std::optional<uint64_t>> bytes = buffer_sizes(plan, sizes);
  std::map<uint32_t, BlockContents> contents;
  const auto add = [&](uint32_t location, const Buffer& buffer, uint64_t& offset) {
    const uint32_t group = step_groups.empty() ? 0 : step_groups[buffer.lower];
    contents[location][group].buffers.push_back(buffer);
    contents[location][group].offsets.push_back(&offset);
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

Status too_large() {
  return {StatusCode::kInvalidArgument,
          "cannot plan memory: the buffers take more than 64 bits of bytes"};
}

// The largest total of live sizes.
Result<uint64_t> live_bytes(std::span<const Buffer> buffers, uint64_t alignment) {
  std::vector<Item> items;
  uint64_t total = 0;
  for (const Buffer& buffer : buffers) {
    const auto aligned = checked_align_up(buffer.size, alignment);
    const auto sum = aligned ? checked_add(total, *aligned) : std::nullopt;
    if (!sum) return too_large();
    total = *sum;
    if (*aligned != 0) items.push_back({buffer.lower, buffer.upper, *aligned / alignment});
  }
  return lower_bound_of(make_problem(std::move(items))) * alignment;
}

// The groups lie one behind the other.
Result<MemoryBlock> place_groups(const BlockContents& groups, const PlacementOptions& options) {
  MemoryBlock block;
  block.alignment = options.alignment;
  std::vector<Buffer> all;
  for (const auto& [group, contents] : groups) {
    EPHOST_ASSIGN_OR_RETURN(const Placement placement, place_buffers(contents.buffers, options));
    const auto end = checked_add(block.bytes, placement.peak);
    if (!end) return too_large();
    for (size_t i = 0; i < contents.offsets.size(); ++i) {
      *contents.offsets[i] = block.bytes + placement.offsets[i];
    }
    block.bytes = *end;
    block.lower_bound = placement.lower_bound;
    block.proved_optimal = placement.proved_optimal;
    all.insert(all.end(), contents.buffers.begin(), contents.buffers.end());
  }
  if (groups.size() == 1) return block;
  EPHOST_ASSIGN_OR_RETURN(block.lower_bound, live_bytes(all, options.alignment));
  block.proved_optimal = block.bytes == block.lower_bound;
  return block;
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
  for (auto& [location, contents] : collect_contents(plan, sizes, options.step_groups, pattern)) {
    uint64_t alignment = options.alignment;
    if (location < options.alignments.size()) {
      alignment = std::max(alignment, options.alignments[location]);
    }
    EPHOST_ASSIGN_OR_RETURN(
        MemoryBlock block,
        place_groups(contents, {.alignment = alignment, .search_work = options.search_work}));
    block.location = location;
    pattern.blocks.push_back(block);
  }
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    if (plan.values[id].kind != AllocKind::kReuse) continue;
    const uint64_t base = pattern.offsets[plan.values[id].reused];
    if (base != kNoOffset) pattern.offsets[id] = base + plan.values[id].offset;
  }
  return pattern;
}

}  // namespace ephost::plan
