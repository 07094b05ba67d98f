// Times of the steps of a run.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <string>

#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {

struct StepTime {
  std::chrono::duration<double, std::milli> begin{};  // after that of the run
  std::chrono::duration<double, std::milli> length{};
};

// The longest step of the examined provider in a run of the model, 0 ms if it has none. Others
// of its session came before it. Fails as the session and its runs fail.
[[nodiscard]] Result<StepTime> longest_step(const Bench& bench, const std::string& model,
                                            const Inputs& inputs);

}  // namespace ephost::conformance
