#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plan/check/checker.h"

namespace ephost::plan {
namespace {

// The alignment of the block of host memory; nothing can be at an offset without one.
uint64_t host_block_alignment(const MemoryPattern& pattern) {
  for (const MemoryBlock& block : pattern.blocks) {
    if (block.location == kHostLocation) return block.alignment;
  }
  return 1;
}

}  // namespace

Status check_alignment(const Graph& graph, const ExecutionPlan& plan,
                       std::span<const StepTraits> traits, const AllocationPlan& allocation,
                       const MemoryPattern& pattern) {
  const uint64_t block = host_block_alignment(pattern);
  for (uint32_t pc = 0; pc < plan.steps.size(); ++pc) {
    const uint64_t alignment = traits[pc].host_alignment;
    if (alignment <= kPartAlignment) continue;
    const auto check = [&](uint32_t location, uint64_t offset, const std::string& what) -> Status {
      if (location != kHostLocation || offset == kNoOffset) return Status::ok_status();
      if (block % alignment == 0 && offset % alignment == 0) return Status::ok_status();
      return Status(StatusCode::kFail,
                    formatted("the memory plan is wrong: {} is not aligned to {} bytes for step {}",
                              what, alignment, pc));
    };
    for (const auto* ids : {&plan.steps[pc].inputs, &plan.steps[pc].outputs}) {
      for (const ValueId id : *ids) {
        if (id == graph::kNoValue) continue;
        EPHOST_RETURN_IF_ERROR(check(allocation.values[id].location, pattern.offsets[id],
                                     "value " + quote(graph.values[id].name)));
      }
    }
    EPHOST_RETURN_IF_ERROR(
        check(traits[pc].location, pattern.workspace_offsets[pc], "the workspace"));
  }
  return Status::ok_status();
}

}  // namespace ephost::plan
