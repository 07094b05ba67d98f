#include "host/plan/allocation_plan.h"

#include <algorithm>
#include <utility>

#include "host/plan/order/live_bytes.h"
#include "host/plan/sharing/lifetimes.h"
#include "host/plan/sharing/sharing.h"

namespace ephost::plan {

using graph::ValueType;

namespace {

// Each round plans from scratch; this bounds the total number of steps that all rounds visit.
constexpr size_t kMaxPartSteps = 500'000;

bool uses_parts(const StepTraits& traits) {
  return !traits.input_parts.empty() || !traits.output_parts.empty();
}

std::vector<Workspace> workspaces_of(std::span<const StepTraits> traits) {
  std::vector<Workspace> workspaces;
  for (uint32_t pc = 0; pc < traits.size(); ++pc) {
    if (traits[pc].workspace_bytes == 0) continue;
    workspaces.push_back({pc, traits[pc].location, traits[pc].workspace_bytes});
  }
  return workspaces;
}

// All parts are placed first. Where that needs more memory than copies do, the step whose largest
// value lives longer because of it copies its parts instead, and everything is planned again.
class PartChoice {
 public:
  PartChoice(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
             const std::vector<ValuePlan>& values, const std::vector<Workspace>& workspaces)
      : graph_(graph), plan_(plan), traits_(traits), values_(values), workspaces_(workspaces) {}

  [[nodiscard]] Shared run() {
    Shared copied = share(std::vector<bool>(traits_.size(), true));
    const LiveBytes limit = live_bytes(copied);
    std::vector<bool> copies(traits_.size(), false);
    for (size_t walked = 0; walked < kMaxPartSteps; walked += traits_.size()) {
      Shared shared = share(copies);
      const LiveBytes live = live_bytes(shared);
      if (live.sum_of_peaks() <= limit.sum_of_peaks()) return shared;
      const PartUse* const use = find_largest_use(shared.part_uses, live, limit);
      if (use == nullptr) break;
      copies[use->pc] = true;
    }
    return copied;
  }

 private:
  [[nodiscard]] Shared share(const std::vector<bool>& copies) const {
    return share_buffers(graph_, plan_, traits_, values_, copies);
  }
  [[nodiscard]] LiveBytes live_bytes(const Shared& shared) const {
    return find_live_bytes(shared.values, shared.buffers, workspaces_, traits_.size());
  }
  // The use of the largest value that is live at the peak of a location whose peak is too high.
  [[nodiscard]] static const PartUse* find_largest_use(const std::vector<PartUse>& uses,
                                                       const LiveBytes& live,
                                                       const LiveBytes& limit) {
    const PartUse* largest = nullptr;
    for (const auto& [location, peak] : live.peaks) {
      const auto allowed = limit.peaks.find(location);
      if (allowed != limit.peaks.end() && peak.bytes <= allowed->second.bytes) continue;
      for (const PartUse& use : uses) {
        if (peak.pc < use.first_pc || peak.pc > use.last_pc) continue;
        if (largest == nullptr || use.bytes >= largest->bytes) largest = &use;
      }
    }
    return largest;
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  const std::vector<ValuePlan>& values_;
  const std::vector<Workspace>& workspaces_;
};

// A shape whose extents are the same wherever it appears, given equal symbols.
bool is_definite(const ValueType& type) {
  return is_plain(type) && type.shape &&
         std::ranges::find(*type.shape, graph::kUnknownDim) == type.shape->end();
}

}  // namespace

std::string_view alloc_kind_name(AllocKind kind) {
  switch (kind) {
    case AllocKind::kNone:
      return "None";
    case AllocKind::kAllocate:
      return "Allocate";
    case AllocKind::kReuse:
      return "Reuse";
    case AllocKind::kPreExisting:
      return "PreExisting";
    case AllocKind::kAllocateStatically:
      return "AllocateStatically";
    case AllocKind::kAllocateOutput:
      return "AllocateOutput";
  }
  return "None";
}

uint32_t location_of(const ValueType& type, uint32_t location, std::span<const SlotLocation> listed,
                     uint32_t slot) {
  if (location == kHostLocation && listed.empty()) return kHostLocation;
  const bool may_be_numbers =
      type.kind == graph::ValueKind::kUnknown || type.kind == graph::ValueKind::kTensor;
  if (!may_be_numbers || type.element == graph::ElementType::kString) return kHostLocation;
  const auto found = std::ranges::find(listed, slot, &SlotLocation::slot);
  return found == listed.end() ? location : found->location;
}

bool is_plain(const ValueType& type) {
  return type.kind == graph::ValueKind::kTensor && graph::element_bits(type.element) > 0;
}

bool provably_equal_bytes(const ValueType& a, const ValueType& b) {
  if (!is_definite(a) || !is_definite(b)) return false;
  if (graph::element_bits(a.element) == graph::element_bits(b.element) && a.shape == b.shape) {
    return true;
  }
  const std::optional<uint64_t> bytes = graph::byte_size(a.element, *a.shape);
  return bytes && bytes == graph::byte_size(b.element, *b.shape);
}

Result<AllocationPlan> plan_allocation(const Graph& graph, const ExecutionPlan& plan,
                                       std::span<const StepTraits> traits,
                                       const AllocationOptions& options) {
  AllocationPlan allocation;
  allocation.steps = static_cast<uint32_t>(plan.steps.size());
  EPHOST_ASSIGN_OR_RETURN(std::vector<ValuePlan> values, find_lifetimes(graph, plan, traits));
  allocation.workspaces = workspaces_of(traits);
  Shared shared;
  if (!options.enable_mem_reuse) {
    shared = without_sharing(plan, std::move(values));
  } else if (options.enable_parts && std::ranges::any_of(traits, uses_parts)) {
    shared = PartChoice(graph, plan, traits, values, allocation.workspaces).run();
  } else {
    shared = share_buffers(graph, plan, traits, std::move(values),
                           std::vector<bool>(traits.size(), true));
  }
  allocation.values = std::move(shared.values);
  allocation.buffers = std::move(shared.buffers);
  return allocation;
}

}  // namespace ephost::plan
