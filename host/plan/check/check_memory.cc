#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/plan/check/checker.h"

namespace ephost::plan {
namespace {

Status wrong_memory(const std::string& what) {
  return {StatusCode::kFail, "the memory plan is wrong: " + what};
}

// A placed buffer: a rectangle over time and addresses.
struct Rectangle {
  uint64_t lower = 0;  // half-open times; 64 bits, as "last step + 1" may overflow 32
  uint64_t upper = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string name;
};

struct Extent {
  uint64_t peak = 0;
  uint64_t live = 0;  // largest sum of aligned sizes at one time
};

// Sweeps over time and keeps the address ranges that are alive in a map: a new range can only
// collide with its two neighbours.
class Sweep {
 public:
  Sweep(const std::vector<Rectangle>& rectangles, uint64_t alignment)
      : rectangles_(rectangles), alignment_(alignment) {}

  [[nodiscard]] Result<Extent> run();

 private:
  [[nodiscard]] Status begin(const Rectangle& rectangle);
  void end(const Rectangle& rectangle);

  const std::vector<Rectangle>& rectangles_;
  uint64_t alignment_;
  std::map<uint64_t, const Rectangle*> alive_;  // by offset
  uint64_t live_ = 0;
  Extent extent_;
};

Result<Extent> Sweep::run() {
  // Ends come before beginnings at the same time.
  std::vector<std::tuple<uint64_t, bool, size_t>> events;
  for (size_t i = 0; i < rectangles_.size(); ++i) {
    const Rectangle& rectangle = rectangles_[i];
    if (rectangle.lower >= rectangle.upper) return wrong_memory(rectangle.name + " never lives");
    if (rectangle.offset % alignment_ != 0) return wrong_memory(rectangle.name + " is not aligned");
    if (rectangle.size == 0) continue;
    events.emplace_back(rectangle.lower, true, i);
    events.emplace_back(rectangle.upper, false, i);
  }
  std::ranges::sort(events);
  for (const auto& [time, begins, i] : events) {
    if (begins) {
      EPHOST_RETURN_IF_ERROR(begin(rectangles_[i]));
    } else {
      end(rectangles_[i]);
    }
  }
  return extent_;
}

Status Sweep::begin(const Rectangle& rectangle) {
  const auto aligned = checked_align_up(rectangle.size, alignment_);
  const auto top = aligned ? checked_add(rectangle.offset, *aligned) : std::nullopt;
  const auto live = aligned ? checked_add(live_, *aligned) : std::nullopt;
  if (!top || !live) return wrong_memory(rectangle.name + " ends beyond 64 bits");
  const auto above = alive_.lower_bound(rectangle.offset);
  const Rectangle* other = nullptr;
  if (above != alive_.end() && above->first - rectangle.offset < rectangle.size) {
    other = above->second;
  }
  if (above != alive_.begin()) {
    const auto& [offset, below] = *std::prev(above);
    if (rectangle.offset - offset < below->size) other = below;
  }
  if (other != nullptr) return wrong_memory(rectangle.name + " overlaps " + other->name);
  alive_.emplace_hint(above, rectangle.offset, &rectangle);
  live_ = *live;
  extent_.live = std::max(extent_.live, live_);
  extent_.peak = std::max(extent_.peak, *top);
  return Status::ok_status();
}

void Sweep::end(const Rectangle& rectangle) {
  alive_.erase(rectangle.offset);
  live_ -= *checked_align_up(rectangle.size, alignment_);
}

Status check_claims(const Extent& extent, uint64_t peak, uint64_t lower_bound, bool is_optimal) {
  if (extent.peak != peak) {
    return wrong_memory(formatted("the peak is {} bytes, not {}", extent.peak, peak));
  }
  if (extent.live != lower_bound) {
    return wrong_memory(formatted("the lower bound is {} bytes, not {}", extent.live, lower_bound));
  }
  if (peak == lower_bound && !is_optimal)
    return wrong_memory("it is optimal, but is not marked as optimal");
  return Status::ok_status();
}

// A value's buffer as the values in it need it. They are examined individually, so that nothing
// here relies on AllocationPlan::buffers.
class PatternCheck {
 public:
  PatternCheck(const AllocationPlan& allocation, const MemoryPattern& pattern,
               std::span<const std::optional<uint64_t>> sizes)
      : allocation_(allocation), pattern_(pattern), sizes_(sizes) {}

  [[nodiscard]] Status run();

 private:
  [[nodiscard]] std::optional<uint64_t> size_of(ValueId id) const {
    return sizes_.empty() ? allocation_.values[id].bytes : sizes_[id];
  }
  // The value whose buffer `id` uses, if that buffer belongs in a block.
  [[nodiscard]] std::optional<ValueId> placed_root(ValueId id) const;
  [[nodiscard]] Status visit_value(ValueId id);
  [[nodiscard]] Status visit_workspaces();
  [[nodiscard]] Status check_block(uint32_t location, const std::vector<Rectangle>& content) const;

  const AllocationPlan& allocation_;
  const MemoryPattern& pattern_;
  std::span<const std::optional<uint64_t>> sizes_;
  std::map<ValueId, Rectangle> buffers_;                  // by root
  std::map<uint32_t, std::vector<Rectangle>> locations_;  // the contents of each block
};

Status PatternCheck::run() {
  if (!std::has_single_bit(pattern_.alignment))
    return wrong_memory("the alignment is not a power of two");
  if (pattern_.offsets.size() != allocation_.values.size() ||
      pattern_.workspace_offsets.size() != allocation_.steps ||
      (!sizes_.empty() && sizes_.size() != allocation_.values.size())) {
    return wrong_memory("it belongs to another allocation plan");
  }
  for (ValueId id = 0; id < allocation_.values.size(); ++id) {
    EPHOST_RETURN_IF_ERROR(visit_value(id));
  }
  EPHOST_RETURN_IF_ERROR(visit_workspaces());
  for (const auto& [root, rectangle] : buffers_) {
    locations_[allocation_.values[root].location].push_back(rectangle);
  }
  for (const auto& [location, content] : locations_) {
    EPHOST_RETURN_IF_ERROR(check_block(location, content));
  }
  if (pattern_.blocks.size() != locations_.size()) return wrong_memory("there are unused blocks");
  return Status::ok_status();
}

std::optional<ValueId> PatternCheck::placed_root(ValueId id) const {
  const ValuePlan& value = allocation_.values[id];
  if (value.kind != AllocKind::kAllocate && value.kind != AllocKind::kReuse) return std::nullopt;
  const bool is_ours = value.reused < allocation_.values.size() &&
                       allocation_.values[value.reused].kind == AllocKind::kAllocate;
  if (!is_ours || !size_of(value.reused) || pattern_.blocks.empty()) return std::nullopt;
  return value.reused;
}

Status PatternCheck::visit_value(ValueId id) {
  const std::string name = "value #" + std::to_string(id);
  const uint64_t offset = pattern_.offsets[id];
  const std::optional<ValueId> root = placed_root(id);
  if (root.has_value() != (offset != kNoOffset)) {
    return wrong_memory(name + (root ? " is missing from its block" : " should not be in a block"));
  }
  if (!root) return Status::ok_status();
  const ValuePlan& value = allocation_.values[id];
  if (offset != pattern_.offsets[*root] + value.offset) {
    return wrong_memory(name + " is not where its buffer is");
  }
  Rectangle& rectangle = buffers_[*root];
  if (rectangle.name.empty()) {
    rectangle = {value.first_pc, uint64_t{value.last_pc} + 1, pattern_.offsets[*root],
                 *size_of(*root), "the buffer of value #" + std::to_string(*root)};
  }
  rectangle.lower = std::min<uint64_t>(rectangle.lower, value.first_pc);
  rectangle.upper = std::max(rectangle.upper, uint64_t{value.last_pc} + 1);
  if (const auto size = size_of(id))
    rectangle.size = std::max(rectangle.size, value.offset + *size);
  return Status::ok_status();
}

Status PatternCheck::visit_workspaces() {
  size_t placed = 0;
  for (const Workspace& workspace : allocation_.workspaces) {
    const uint64_t offset = pattern_.workspace_offsets[workspace.pc];
    const std::string name = "the workspace of step " + std::to_string(workspace.pc);
    if ((offset == kNoOffset) != pattern_.blocks.empty()) {
      return wrong_memory(name + " is missing from its block, or should not be there");
    }
    if (offset == kNoOffset) continue;
    ++placed;
    locations_[workspace.location].push_back(
        {workspace.pc, uint64_t{workspace.pc} + 1, offset, workspace.bytes, name});
  }
  const auto none = std::ranges::count(pattern_.workspace_offsets, kNoOffset);
  if (placed + static_cast<size_t>(none) != pattern_.workspace_offsets.size()) {
    return wrong_memory("a step without a workspace has one");
  }
  return Status::ok_status();
}

Status PatternCheck::check_block(uint32_t location, const std::vector<Rectangle>& content) const {
  const auto block = std::ranges::find(pattern_.blocks, location, &MemoryBlock::location);
  if (block == pattern_.blocks.end()) {
    return wrong_memory(formatted("location {} has no block", location));
  }
  if (block->alignment < pattern_.alignment || !std::has_single_bit(block->alignment)) {
    return wrong_memory(formatted("the alignment of location {} is wrong", location));
  }
  EPHOST_ASSIGN_OR_RETURN(const Extent extent, Sweep(content, block->alignment).run());
  return check_claims(extent, block->bytes, block->lower_bound, block->proved_optimal);
}

}  // namespace

Status check_memory(const AllocationPlan& allocation, const MemoryPattern& pattern,
                    std::span<const std::optional<uint64_t>> sizes) {
  return PatternCheck(allocation, pattern, sizes).run();
}

Status check_placement(std::span<const Buffer> buffers, const Placement& placement,
                       uint64_t alignment) {
  if (!std::has_single_bit(alignment)) return wrong_memory("the alignment is not a power of two");
  if (placement.offsets.size() != buffers.size())
    return wrong_memory("it belongs to other buffers");
  std::vector<Rectangle> rectangles;
  rectangles.reserve(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto& [lower, upper, size] = buffers[i];
    rectangles.push_back(
        {lower, upper, placement.offsets[i], size, "buffer #" + std::to_string(i)});
  }
  EPHOST_ASSIGN_OR_RETURN(const Extent extent, Sweep(rectangles, alignment).run());
  const auto& [offsets, peak, lower_bound, is_optimal, proved_bound] = placement;
  if (proved_bound < lower_bound || proved_bound > peak || is_optimal != (peak == proved_bound)) {
    return wrong_memory(formatted("a bound of {} bytes contradicts it", proved_bound));
  }
  return check_claims(extent, peak, lower_bound, is_optimal);
}

}  // namespace ephost::plan
