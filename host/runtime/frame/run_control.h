// Control of a run of a session: its id, and what ends it early.
#pragma once

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
};

// An id that no other run of the process has; never 0.
[[nodiscard]] inline uint64_t next_run_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace ephost::runtime
