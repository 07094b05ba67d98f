#include "host/session/metrics/run_meter.h"

#include <algorithm>

namespace ephost::session {

RunMeter::Stripe& RunMeter::mine() {
  static std::atomic<size_t> next{0};
  thread_local const size_t index = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripes_[index];
}

void RunMeter::end(RunOutcome outcome, std::chrono::nanoseconds duration, Bytes bytes) {
  Stripe& stripe = mine();
  Distribution& runs = stripe.runs[static_cast<size_t>(outcome)];
  runs.nanoseconds.fetch_add(static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0)),
                             std::memory_order_relaxed);
  if (bytes.inputs != 0) stripe.input_bytes.fetch_add(bytes.inputs, std::memory_order_relaxed);
  if (bytes.outputs != 0) stripe.output_bytes.fetch_add(bytes.outputs, std::memory_order_relaxed);
  runs.counts[bucket_of(duration)].fetch_add(1, std::memory_order_relaxed);
  stripe.in_progress.fetch_sub(1, std::memory_order_relaxed);
}

RunMeter::Counts RunMeter::read() const {
  Counts all;
  for (const Stripe& stripe : stripes_) {
    for (size_t outcome = 0; outcome < kRunOutcomes; ++outcome) {
      const Distribution& from = stripe.runs[outcome];
      DurationHistogram& to = all.runs[outcome];
      for (size_t i = 0; i < kBucketCount; ++i) {
        to.counts[i] += from.counts[i].load(std::memory_order_relaxed);
      }
      to.sum += std::chrono::nanoseconds(from.nanoseconds.load(std::memory_order_relaxed));
    }
    all.in_progress += stripe.in_progress.load(std::memory_order_relaxed);
    all.bytes.inputs += stripe.input_bytes.load(std::memory_order_relaxed);
    all.bytes.outputs += stripe.output_bytes.load(std::memory_order_relaxed);
  }
  return all;
}

}  // namespace ephost::session
