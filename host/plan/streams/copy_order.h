// The place of copies in the order of steps. A value takes the place of an earlier one as soon as
// that is dead in the plan's order; where a copy and a computation beside it are next to each
// other, one would so wait for the other, although a device could do both at once. With some
// computations in between they have places of their own, as with two buffers that are filled in
// turn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/plan/execution_plan.h"
#include "host/plan/streams/stream_plan.h"

namespace ephost::plan {

// Moves copies to a device before, and copies from it behind, as many of its computations as make
// them overlap; a copy stays behind the step that makes its input and before those that read its
// output. Other steps keep their order. Returns the steps in their new order. `queues` as given to
// plan_streams.
[[nodiscard]] std::vector<uint32_t> order_copies(const ExecutionPlan& execution,
                                                 std::span<const StepQueue> queues);

}  // namespace ephost::plan
