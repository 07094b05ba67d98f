#include "host/plan/streams/copy_order.h"

#include <algorithm>
#include <numeric>

namespace ephost::plan {
namespace {

// One would do where all steps took the same time.
constexpr int kComputationsBetween = 2;

class CopyMover {
 public:
  CopyMover(const ExecutionPlan& execution, std::span<const StepQueue> queues)
      : execution_(execution), queues_(queues), order_(queues.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  std::vector<uint32_t> run() && {
    for (size_t at = 0; at < order_.size(); ++at) {
      if (is(order_[at], StreamPurpose::kCopyIn)) move_up(at);
    }
    for (size_t at = order_.size(); at-- > 0;) {
      if (is(order_[at], StreamPurpose::kCopyOut)) move_down(at);
    }
    return std::move(order_);
  }

 private:
  [[nodiscard]] bool is(uint32_t step, StreamPurpose purpose) const {
    return queues_[step].device != kNoDevice && queues_[step].purpose == purpose;
  }
  // Whether moving past the other step makes the copy overlap one more computation.
  [[nodiscard]] bool is_beside(uint32_t copy, uint32_t other) const {
    return queues_[other].device == queues_[copy].device && is(other, StreamPurpose::kCompute);
  }
  [[nodiscard]] bool reads(uint32_t reader, ValueId id) const {
    const Step& step = execution_.steps[reader];
    return std::ranges::count(step.inputs, id) != 0 ||
           std::ranges::count(step.implicit_inputs, id) != 0;
  }

  void move_up(size_t at) {
    const uint32_t copy = order_[at];
    const ValueId input = execution_.steps[copy].inputs[0];
    int passed = 0;
    size_t to = at;
    // Copies keep their order among each other.
    while (to > 0 && passed < kComputationsBetween) {
      const uint32_t before = order_[to - 1];
      if (is(before, StreamPurpose::kCopyIn) ||
          std::ranges::count(execution_.steps[before].outputs, input) != 0) {
        break;
      }
      passed += is_beside(copy, before) ? 1 : 0;
      --to;
    }
    if (passed != 0) std::rotate(begin(to), begin(at), begin(at + 1));
  }

  void move_down(size_t at) {
    const uint32_t copy = order_[at];
    const ValueId output = execution_.steps[copy].outputs[0];
    int passed = 0;
    size_t to = at;
    while (to + 1 < order_.size() && passed < kComputationsBetween) {
      const uint32_t after = order_[to + 1];
      // What the host runs would hold it up.
      const bool is_of_host = queues_[after].device == kNoDevice;
      if (is_of_host || is(after, StreamPurpose::kCopyOut) || reads(after, output)) break;
      passed += is_beside(copy, after) ? 1 : 0;
      ++to;
    }
    if (passed != 0) std::rotate(begin(at), begin(at + 1), begin(to + 1));
  }

  [[nodiscard]] std::vector<uint32_t>::iterator begin(size_t at) {
    return order_.begin() + static_cast<std::ptrdiff_t>(at);
  }

  const ExecutionPlan& execution_;
  std::span<const StepQueue> queues_;
  std::vector<uint32_t> order_;
};

}  // namespace

std::vector<uint32_t> order_copies(const ExecutionPlan& execution,
                                   std::span<const StepQueue> queues) {
  return CopyMover(execution, queues).run();
}

}  // namespace ephost::plan
