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
  // Who sees that the run has ended sees everything else of it.
  runs.counts[bucket_of(duration)].fetch_add(1, std::memory_order_release);
}

RunMeter::Counts RunMeter::read() const {
  Counts all;
  uint64_t ended = 0;
  uint64_t begun = 0;
  for (const Stripe& stripe : stripes_) {
    for (size_t outcome = 0; outcome < kRunOutcomes; ++outcome) {
      const Distribution& from = stripe.runs[outcome];
      DurationHistogram& to = all.runs[outcome];
      for (size_t i = 0; i < kBucketCount; ++i) {
        const uint64_t count = from.counts[i].load(std::memory_order_acquire);
        to.counts[i] += count;
        ended += count;
      }
      to.sum += std::chrono::nanoseconds(from.nanoseconds.load(std::memory_order_relaxed));
    }
    begun += stripe.begun.load(std::memory_order_relaxed);
    all.bytes.inputs += stripe.input_bytes.load(std::memory_order_relaxed);
    all.bytes.outputs += stripe.output_bytes.load(std::memory_order_relaxed);
  }
  all.in_progress = begun - ended;
  return all;
}

}  // namespace ephost::session
