#include "host/plan/memory_pattern.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "host/base/checked_math.h"
#include "host/plan/placement.h"

namespace ephost::plan {
namespace {

Status refuse(const std::string& what) {
  return {StatusCode::kInvalidArgument, "cannot place buffers: " + what};
}

// The problem in units of the alignment, without buffers of no bytes. `ids` says which buffer each
// item is.
Result<std::vector<Item>> to_items(std::span<const Buffer> buffers, uint64_t alignment,
                                   std::vector<size_t>& ids) {
  std::vector<Item> items;
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
    if (*aligned == 0) continue;
    items.push_back({lower, upper, *aligned / alignment});
    ids.push_back(i);
  }
  return items;
}

// Tries rules and orders until the lower bound is met or the work they may do is done.
class Packer {
 public:
  Packer(const Problem& problem, uint64_t lower_bound)
      : problem_(problem), lower_bound_(lower_bound), orders_(placement_orders(problem)) {}

  [[nodiscard]] Packing run() && {
    const bool done = try_tops() || try_skylines() || try_gaps();
    static_cast<void>(done);
    return std::move(best_);
  }

 private:
  // Keeps a packing that is better; true if no other can be.
  bool offer(std::optional<Packing> packing) {
    if (packing && packing->peak < best_.peak) best_ = *std::move(packing);
    return best_.peak == lower_bound_;
  }
  bool try_tops() {
    return std::ranges::any_of(orders_, [&](const std::vector<uint32_t>& order) {
      return offer(place_on_top(problem_, order));
    });
  }
  bool try_skylines() {
    uint64_t work_left = 20'000'000;
    return std::ranges::any_of(orders_, [&](const std::vector<uint32_t>& order) {
      return offer(place_by_skyline(problem_, order, best_.peak, work_left));
    });
  }
  bool try_gaps() {
    const GapPlacer placer(problem_);
    uint64_t work_left = 50'000'000;
    for (const std::vector<uint32_t>& order : orders_) {
      for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
        if (placer.work() > work_left) return false;
        work_left -= placer.work();
        if (offer(placer.place(order, fit, best_.peak))) return true;
      }
    }
    return false;
  }

  const Problem& problem_;
  uint64_t lower_bound_;
  std::vector<std::vector<uint32_t>> orders_;
  Packing best_{{}, std::numeric_limits<uint64_t>::max()};
};

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
    if (const std::optional<uint64_t> own = size_of(id); size && own) size = std::max(*size, *own);
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

Result<Placement> place_buffers(std::span<const Buffer> buffers, uint64_t alignment) {
  if (!std::has_single_bit(alignment)) {
    return refuse("the alignment " + std::to_string(alignment) + " is not a power of two");
  }
  std::vector<size_t> ids;
  EPHOST_ASSIGN_OR_RETURN(std::vector<Item> items, to_items(buffers, alignment, ids));
  Placement placement;
  placement.offsets.assign(buffers.size(), 0);
  placement.proved_optimal = true;
  if (items.empty()) return placement;
  const Problem problem = make_problem(std::move(items));
  const uint64_t lower_bound = lower_bound_of(problem);
  const Packing packing = Packer(problem, lower_bound).run();
  for (size_t i = 0; i < ids.size(); ++i) {
    placement.offsets[ids[i]] = packing.offsets[i] * alignment;
  }
  placement.peak = packing.peak * alignment;
  placement.lower_bound = lower_bound * alignment;
  placement.proved_optimal = packing.peak == lower_bound;
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
    EPHOST_ASSIGN_OR_RETURN(const Placement placement,
                            place_buffers(contents.buffers, options.alignment));
    for (size_t i = 0; i < contents.offsets.size(); ++i) {
      *contents.offsets[i] = placement.offsets[i];
    }
    pattern.blocks.push_back(
        {location, placement.peak, placement.lower_bound, placement.proved_optimal});
  }
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    if (plan.values[id].kind != AllocKind::kReuse) continue;
    pattern.offsets[id] = pattern.offsets[plan.values[id].reused];
  }
  return pattern;
}

}  // namespace ephost::plan
