// Control of a run of a session: its id, and what ends it early.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ephost::runtime {

struct RunControl {
  uint64_t id = 0;                               // what computations see as eph_run.run_id
  const std::atomic<bool>* cancelled = nullptr;  // of the caller, borrowed for the run; may be null
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Receives the name of the first provider that fails in the run; borrowed, may be null.
  std::atomic<const std::string*>* failed_provider = nullptr;

  [[nodiscard]] bool is_cancelled() const {
    return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_past_deadline() const {
    return deadline && std::chrono::steady_clock::now() >= *deadline;
  }
  [[nodiscard]] bool is_over() const { return is_cancelled() || is_past_deadline(); }
  // CANCELLED or DEADLINE_EXCEEDED once the run is to end, "the run was cancelled"; OK before.
  [[nodiscard]] Status check() const;
  // What the failure of a provider, or of something else that was told to stop, means for the run.
  // Once the run is to end, it is the end, whatever the code; only a device that was lost stays so.
  [[nodiscard]] Status judge(Status failure) const;
};

// An id that no other run of the process has; never 0.
[[nodiscard]] inline uint64_t next_run_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace ephost::runtime
