#include <algorithm>
#include <string>
#include <vector>

#include "host/base/format.h"
#include "host/plan/check/checker.h"
#include "host/plan/check/step_uses.h"

namespace ephost::plan {
namespace {

// Follows the steps as they are enqueued, and notes for each which of the earlier ones are done
// when it begins.
class StreamCheck {
 public:
  StreamCheck(const ExecutionPlan& plan, const AllocationPlan& allocation,
              std::span<const StepQueue> queues, const StreamPlan& streams)
      : plan_(plan),
        allocation_(allocation),
        queues_(queues),
        streams_(streams),
        count_(static_cast<uint32_t>(plan.steps.size())),
        order_(count_, std::vector<bool>(count_, false)),
        done_(count_, false),
        last_(streams.streams.size(), kNoStep) {}

  Status find_order() {
    EPHOST_RETURN_IF_ERROR(check_lists());
    for (uint32_t step = 0; step < count_; ++step) {
      EPHOST_RETURN_IF_ERROR(enqueue(step));
      EPHOST_RETURN_IF_ERROR(check_host_inputs(step));
      for (uint32_t earlier = 0; earlier <= step; ++earlier) {
        if (streams_.host_knows_done(step, earlier) && !done_[earlier]) {
          return {StatusCode::kFail,
                  formatted("the host takes step {} for done after step {}, and has not waited",
                            earlier, step)};
        }
      }
      known_after_.push_back(done_);
    }
    return Status::ok_status();
  }
  [[nodiscard]] const KnownOrder& order() const { return order_; }
  // What the host knows to be done once the step has been enqueued.
  [[nodiscard]] const std::vector<bool>& known_after(uint32_t step) const {
    return known_after_[step];
  }

 private:
  [[nodiscard]] Status check_lists() const {
    const bool fits = streams_.stream_of.size() == count_ &&
                      streams_.is_recorded.size() == count_ &&
                      streams_.first_wait.size() == size_t{count_} + 1 &&
                      streams_.host_knows.size() == count_ * streams_.streams.size();
    if (!fits) return {StatusCode::kFail, "it is for other steps"};
    for (const uint32_t stream : streams_.stream_of) {
      if (stream > streams_.streams.size()) {
        return {StatusCode::kFail, formatted("stream {} does not exist", stream)};
      }
    }
    return Status::ok_status();
  }

  // `earlier`, and all that was done when it began, is done.
  void note(std::vector<bool>& known, uint32_t earlier) const {
    known[earlier] = true;
    for (uint32_t before = 0; before < earlier; ++before) {
      if (order_[earlier][before]) known[before] = true;
    }
  }

  Status enqueue(uint32_t step) {
    const uint32_t stream = streams_.stream_of[step];
    std::vector<bool>& begins = order_[step];
    for (const auto& [earlier, is_by_host] : streams_.waits_of(step)) {
      if (earlier >= step || streams_.stream_of[earlier] == kHostStream ||
          !streams_.is_recorded[earlier]) {
        return {StatusCode::kFail,
                formatted("step {} waits for step {}, which has no point before", step, earlier)};
      }
      const uint32_t other = streams_.stream_of[earlier];
      const bool crosses = stream == kHostStream || streams_.streams[stream - 1].device !=
                                                        streams_.streams[other - 1].device;
      if (crosses && !is_by_host) {
        return {StatusCode::kFail,
                formatted("step {} waits for step {}, which its stream cannot", step, earlier)};
      }
      note(is_by_host ? done_ : begins, earlier);
    }
    for (uint32_t earlier = 0; earlier < step; ++earlier) {
      if (done_[earlier]) begins[earlier] = true;
    }
    // The last step of its stream has begun after those before it there.
    if (stream != kHostStream) {
      uint32_t& last = last_[stream - 1];
      if (last != kNoStep) note(begins, last);
      last = step;
    }
    if (stream == kHostStream) note(done_, step);
    return Status::ok_status();
  }

  // What is read in host memory while the step is enqueued is there.
  [[nodiscard]] Status check_host_inputs(uint32_t step) const {
    if (streams_.stream_of[step] == kHostStream || !queues_[step].is_read_by_host) {
      return Status::ok_status();
    }
    for (const ValueId id : plan_.steps[step].inputs) {
      if (id == kNoValue || allocation_.values[id].location != kHostLocation) continue;
      for (uint32_t earlier = 0; earlier < step; ++earlier) {
        if (done_[earlier] || std::ranges::count(plan_.steps[earlier].outputs, id) == 0) continue;
        return {StatusCode::kFail,
                formatted("step {} is enqueued before step {} has made its input in host memory",
                          step, earlier)};
      }
    }
    return Status::ok_status();
  }

  const ExecutionPlan& plan_;
  const AllocationPlan& allocation_;
  std::span<const StepQueue> queues_;
  const StreamPlan& streams_;
  uint32_t count_;
  KnownOrder order_;
  std::vector<bool> done_;      // what the host knows so far
  std::vector<uint32_t> last_;  // by stream, the host's left out: its last step so far
  std::vector<std::vector<bool>> known_after_;
};

// No buffer is given back while a step of another stream may use it.
Status check_releases(const ExecutionPlan& plan, const AllocationPlan& allocation,
                      const StreamPlan& streams, const StreamCheck& check) {
  for (uint32_t pc = 0; pc < streams.releases.size(); ++pc) {
    for (const ValueId root : streams.releases[pc]) {
      std::vector<uint32_t> users;
      for (uint32_t step = 0; step < plan.steps.size(); ++step) {
        const Step& of = plan.steps[step];
        for (const auto* ids : {&of.inputs, &of.implicit_inputs, &of.outputs}) {
          for (const ValueId id : *ids) {
            if (id != kNoValue && allocation.values[id].reused == root) users.push_back(step);
          }
        }
      }
      const bool is_enqueued = std::ranges::all_of(users, [&](uint32_t user) {
        return user <= pc && streams.stream_of[user] == streams.stream_of[users.front()];
      });
      const bool is_done = std::ranges::all_of(
          users, [&](uint32_t user) { return user <= pc && check.known_after(pc)[user]; });
      if (is_done || (is_enqueued && allocation.values[root].location != kHostLocation)) continue;
      return {StatusCode::kFail,
              formatted("the buffer of value {} is given back after step {}, when it may be in use",
                        root, pc)};
    }
  }
  return Status::ok_status();
}

Status check_all(const ExecutionPlan& plan, const AllocationPlan& allocation,
                 const MemoryPattern& pattern, std::span<const StepQueue> queues,
                 const StreamPlan& streams, std::span<const std::optional<uint64_t>> sizes) {
  StreamCheck check(plan, allocation, queues, streams);
  EPHOST_RETURN_IF_ERROR(check.find_order());
  EPHOST_RETURN_IF_ERROR(StepUses(plan, allocation, pattern, sizes).check(check.order()));
  return check_releases(plan, allocation, streams, check);
}

}  // namespace

Status check_streams(const ExecutionPlan& plan, const AllocationPlan& allocation,
                     const MemoryPattern& pattern, std::span<const StepQueue> queues,
                     const StreamPlan& streams, std::span<const std::optional<uint64_t>> sizes) {
  if (streams.empty()) return Status::ok_status();
  Status status = check_all(plan, allocation, pattern, queues, streams, sizes);
  if (status.ok()) return status;
  return {StatusCode::kFail, "the plan of streams is wrong: " + status.message()};
}

}  // namespace ephost::plan
