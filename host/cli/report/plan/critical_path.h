// The critical path of a plan whose steps are enqueued on streams: the chain of steps that decides
// how long a run takes at least.
#pragma once

#include <ephost/plan_model.h>

#include <cstdint>
#include <span>
#include <vector>

namespace ephost::cli {

// The steps of the longest chain, ascending, if each takes so many seconds; without times, each
// counts as one. A step of the host begins after those before it there and after what the host
// waits for; one of a stream once the host has come to it, after the step before it on the stream
// and after those that the stream waits for. Empty if all steps are the host's.
[[nodiscard]] std::vector<uint32_t> critical_path(std::span<const PlannedStep> steps,
                                                  std::span<const double> seconds = {});

}  // namespace ephost::cli
