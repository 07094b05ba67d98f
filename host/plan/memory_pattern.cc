#include "host/plan/memory_pattern.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "host/base/checked_math.h"
#include "host/plan/packer.h"
#include "host/plan/placement.h"

namespace ephost::plan {
namespace {

Status refuse(const std::string& what) {
  return {StatusCode::kInvalidArgument, "cannot place buffers: " + what};
}

// The problem in units that all aligned sizes are multiples of, without buffers of no bytes and in
// an order of its own, so that the answer doesn't depend on the order of the buffers.
struct Reduced {
  std::vector<Item> items;
  std::vector<size_t> buffers;  // which buffer each item is
  uint64_t unit = 0;
};

Result<Reduced> reduce(std::span<const Buffer> buffers, uint64_t alignment) {
  Reduced reduced;
  std::vector<uint64_t> sizes;
  std::optional<uint64_t> total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto& [lower, upper, size] = buffers[i];
    if (lower >= upper) {
      return refuse("buffer #" + std::to_string(i) + " lives from " + std::to_string(lower) +
                    " to " + std::to_string(upper) + "; its end must be after its start");
    }
    const std::optional<uint64_t> aligned = checked_align_up(size, alignment);
    if (total && aligned) total = checked_add(*total, *aligned);
    if (!total || !aligned) {
      return refuse("the sizes up to buffer #" + std::to_string(i) +
                    " add up to more than 64 bits hold");
    }
    sizes.push_back(*aligned);
    reduced.unit = std::gcd(reduced.unit, *aligned);
    if (*aligned > 0) reduced.buffers.push_back(i);
  }
  std::ranges::stable_sort(reduced.buffers, {}, [&](size_t i) {
    return std::tuple(buffers[i].lower, buffers[i].upper, sizes[i]);
  });
  for (const size_t i : reduced.buffers) {
    reduced.items.push_back({buffers[i].lower, buffers[i].upper, sizes[i] / reduced.unit});
  }
  return reduced;
}

// What competes for the block of one location, and where its offsets go.
struct Contents {
  std::vector<Buffer> buffers;
  std::vector<uint64_t*> offsets;
};

// The bytes of each buffer by its root's value id; nothing where they aren't known.
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

Result<Placement> place_buffers(std::span<const Buffer> buffers, const PlacementOptions& options) {
  if (!std::has_single_bit(options.alignment)) {
    return refuse("the alignment " + std::to_string(options.alignment) + " is not a power of two");
  }
  EPHOST_ASSIGN_OR_RETURN(Reduced reduced, reduce(buffers, options.alignment));
  Placement placement;
  placement.offsets.assign(buffers.size(), 0);
  placement.proved_optimal = true;
  if (reduced.items.empty()) return placement;
  std::optional<uint64_t> capacity;
  if (options.capacity) capacity = *options.capacity / reduced.unit;
  const Problem problem = make_problem(std::move(reduced.items));
  const PackResult result = pack(problem, capacity, options.search_work);
  for (size_t i = 0; i < reduced.buffers.size(); ++i) {
    placement.offsets[reduced.buffers[i]] = result.packing.offsets[i] * reduced.unit;
  }
  placement.peak = result.packing.peak * reduced.unit;
  placement.lower_bound = lower_bound_of(problem) * reduced.unit;
  placement.proved_bound = result.bound * reduced.unit;
  placement.proved_optimal = placement.peak == placement.proved_bound;
  return placement;
}

Result<MemoryPattern> plan_memory(const AllocationPlan& plan,
                                  std::span<const std::optional<uint64_t>> sizes,
                                  const MemoryOptions& options) {
  if (!sizes.empty() && sizes.size() != plan.values.size()) {
    return refuse("there are " + std::to_string(plan.values.size()) + " values but " +
                  std::to_string(sizes.size()) + " sizes");
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
