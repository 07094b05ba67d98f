#include "host/conformance/sessions/failing_runs.h"

#include <atomic>

namespace ephost::conformance {

void run_into_failure(Session& session, const Inputs& inputs) {
  const std::atomic<bool> is_cancelled = true;
  RunOptions cancelled;
  cancelled.cancelled = &is_cancelled;
  (void)session.run(inputs, {}, cancelled);
  run_into_deadline(session, inputs, {});
  (void)session.run(
      changed<int64_t>(inputs, ElementType::kInt64, [](int64_t& index) { index += 1'000'000; }));
}

void run_into_deadline(Session& session, const Inputs& inputs, std::chrono::nanoseconds time) {
  RunOptions late;
  late.deadline = std::chrono::steady_clock::now() + time;
  (void)session.run(inputs, {}, late);
}

}  // namespace ephost::conformance
