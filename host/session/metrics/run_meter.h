// Counters of the runs of sessions that use the same providers. Made for runs of less than a
// microsecond: threads count in stripes of their own, without waiting for each other.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "host/session/metrics/duration_histogram.h"

namespace ephost::session {

enum class RunOutcome : uint8_t { kSucceeded, kFailed, kCancelled, kExpired };
inline constexpr size_t kRunOutcomes = 4;

class RunMeter {
 public:
  struct Bytes {
    uint64_t inputs = 0;
    uint64_t outputs = 0;
  };
  struct Counts {
    std::array<DurationHistogram, kRunOutcomes> runs;  // by outcome
    uint64_t in_progress = 0;
    Bytes bytes;
  };

  RunMeter() = default;
  RunMeter(const RunMeter&) = delete;
  RunMeter& operator=(const RunMeter&) = delete;

  // Any thread. The thread that began a run ends it.
  void begin() { mine().in_progress.fetch_add(1, std::memory_order_relaxed); }
  void end(RunOutcome outcome, std::chrono::nanoseconds duration, Bytes bytes);

  // The sums over all threads. What happens meanwhile may be in some of them only.
  [[nodiscard]] Counts read() const;

 private:
  static constexpr size_t kStripes = 8;
  struct Distribution {
    std::array<std::atomic<uint64_t>, kBucketCount> counts = {};
    std::atomic<uint64_t> nanoseconds{0};
  };
  struct alignas(64) Stripe {
    std::atomic<uint64_t> in_progress{0};
    std::atomic<uint64_t> input_bytes{0};
    std::atomic<uint64_t> output_bytes{0};
    std::array<Distribution, kRunOutcomes> runs;
  };

  // Threads get the stripes in turn.
  Stripe& mine();

  std::array<Stripe, kStripes> stripes_;
};

}  // namespace ephost::session
