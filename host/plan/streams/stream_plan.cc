#include "host/plan/streams/stream_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "host/plan/step_dependencies.h"

namespace ephost::plan {
namespace {

// By stream, the host's left out: the steps before this number are done.
using Clock = std::vector<uint32_t>;

void join(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

std::vector<std::vector<uint32_t>> predecessors_of(const StepDependencies& dependencies) {
  std::vector<std::vector<uint32_t>> predecessors(dependencies.waits_for.size());
  for (uint32_t step = 0; step < predecessors.size(); ++step) {
    for (const uint32_t next : dependencies.successors_of(step)) {
      predecessors[next].push_back(step);
    }
  }
  return predecessors;
}

// Chooses the stream of each step: the one that ends with a step that it depends on, so that chains
// stay on one stream, or else the one that has been left alone for longest.
class StreamChooser {
 public:
  StreamChooser(std::span<const StepQueue> queues, std::span<const uint32_t> compute_streams)
      : queues_(queues), compute_streams_(compute_streams) {}

  void run(const std::vector<std::vector<uint32_t>>& predecessors, StreamAssignment& plan) && {
    for (uint32_t step = 0; step < queues_.size(); ++step) {
      const uint32_t stream =
          queues_[step].device == kNoDevice ? kHostStream : choose(step, predecessors[step], plan);
      plan.stream_of.push_back(stream);
      if (stream != kHostStream) tails_[stream - 1] = step;
    }
  }

 private:
  uint32_t choose(uint32_t step, const std::vector<uint32_t>& predecessors,
                  StreamAssignment& plan) {
    const StepQueue& queue = queues_[step];
    std::vector<uint32_t>& known = known_[{queue.device, queue.purpose}];
    const uint32_t most =
        queue.purpose == StreamPurpose::kCompute ? compute_streams_[queue.device] : 1;
    for (auto earlier = predecessors.rbegin(); earlier != predecessors.rend(); ++earlier) {
      const uint32_t stream = plan.stream_of[*earlier];
      if (std::ranges::find(known, stream) != known.end() && tails_[stream - 1] == *earlier) {
        return stream;
      }
    }
    if (known.size() < most) {
      plan.streams.push_back({queue.device, queue.purpose, static_cast<uint32_t>(known.size())});
      tails_.push_back(kNoStep);
      known.push_back(static_cast<uint32_t>(plan.streams.size()));
      return known.back();
    }
    return *std::ranges::min_element(known, {},
                                     [&](uint32_t stream) { return tails_[stream - 1]; });
  }

  std::span<const StepQueue> queues_;
  std::span<const uint32_t> compute_streams_;
  std::map<std::pair<uint32_t, StreamPurpose>, std::vector<uint32_t>> known_;
  std::vector<uint32_t> tails_;  // by stream, the host's left out: its last step
};

class WaitFinder {
 public:
  WaitFinder(const ExecutionPlan& execution, const AllocationPlan& allocation,
             std::span<const StepQueue> queues, StreamPlan& plan)
      : execution_(execution),
        allocation_(allocation),
        queues_(queues),
        plan_(plan),
        host_(plan.streams.size(), 0),
        tails_(plan.streams.size(), host_),
        ends_(plan.stream_of.size()),
        producers_(allocation.values.size(), kNoStep) {
    plan_.is_recorded.resize(ends_.size(), false);
  }

  void run(const std::vector<std::vector<uint32_t>>& predecessors) && {
    for (uint32_t step = 0; step < ends_.size(); ++step) {
      plan_.first_wait.push_back(static_cast<uint32_t>(plan_.waits.size()));
      visit(step, predecessors[step]);
      plan_.host_knows.insert(plan_.host_knows.end(), host_.begin(), host_.end());
    }
    plan_.first_wait.push_back(static_cast<uint32_t>(plan_.waits.size()));
  }

 private:
  void visit(uint32_t step, const std::vector<uint32_t>& predecessors) {
    const uint32_t stream = plan_.stream_of[step];
    const bool is_enqueued = stream != kHostStream;
    if (is_enqueued && queues_[step].is_read_by_host) wait_for_host_inputs(step);
    Clock clock = host_;
    if (is_enqueued) join(clock, tails_[stream - 1]);
    // The last ones first: they may know of the others.
    for (auto earlier = predecessors.rbegin(); earlier != predecessors.rend(); ++earlier) {
      const uint32_t other = plan_.stream_of[*earlier];
      if (other == kHostStream || other == stream || *earlier < clock[other - 1]) continue;
      const bool is_by_host = !is_enqueued || queues_[step].device != queues_[*earlier].device;
      wait_for(*earlier, is_by_host);
      join(clock, ends_[*earlier]);
    }
    for (const ValueId id : execution_.steps[step].outputs) {
      if (id != kNoValue) producers_[id] = step;
    }
    if (!is_enqueued) return;
    clock[stream - 1] = step + 1;
    tails_[stream - 1] = clock;
    ends_[step] = std::move(clock);
  }

  void wait_for_host_inputs(uint32_t step) {
    std::vector<uint32_t> producers;
    for (const ValueId id : execution_.steps[step].inputs) {
      if (id == kNoValue || allocation_.values[id].location != kHostLocation) continue;
      if (producers_[id] != kNoStep) producers.push_back(producers_[id]);
    }
    std::ranges::sort(producers, std::greater());
    for (const uint32_t producer : producers) {
      const uint32_t other = plan_.stream_of[producer];
      if (other != kHostStream && producer >= host_[other - 1]) wait_for(producer, true);
    }
  }
  void wait_for(uint32_t earlier, bool is_by_host) {
    plan_.waits.push_back({earlier, is_by_host});
    plan_.is_recorded[earlier] = true;
    if (is_by_host) join(host_, ends_[earlier]);
  }

  const ExecutionPlan& execution_;
  const AllocationPlan& allocation_;
  std::span<const StepQueue> queues_;
  StreamPlan& plan_;
  Clock host_;                       // what the host knows to be done
  std::vector<Clock> tails_;         // by stream, the host's left out: once its last step is done
  std::vector<Clock> ends_;          // by step of a device: once it is done
  std::vector<uint32_t> producers_;  // by value, of the steps so far
};

std::vector<std::vector<ValueId>> find_releases(const ExecutionPlan& execution,
                                                const AllocationPlan& allocation,
                                                const MemoryPattern& pattern,
                                                const StreamPlan& streams) {
  const auto count = static_cast<uint32_t>(execution.steps.size());
  std::vector<std::vector<ValueId>> releases(count);
  std::map<ValueId, std::vector<uint32_t>> users;  // by root
  for (const BufferPlan& buffer : allocation.buffers) {
    const bool is_ours = allocation.values[buffer.root].kind == AllocKind::kAllocate;
    if (is_ours && pattern.offsets[buffer.root] == kNoOffset) users[buffer.root];
  }
  for (uint32_t pc = 0; pc < count; ++pc) {
    const Step& step = execution.steps[pc];
    for (const auto* ids : {&step.inputs, &step.implicit_inputs, &step.outputs}) {
      for (const ValueId id : *ids) {
        if (id == kNoValue || allocation.values[id].reused == kNoValue) continue;
        const auto found = users.find(allocation.values[id].reused);
        if (found != users.end()) found->second.push_back(pc);
      }
    }
  }
  for (const auto& [root, steps] : users) {
    if (steps.empty()) continue;
    const uint32_t stream = streams.stream_of[steps.front()];
    const bool is_of_one_stream =
        allocation.values[root].location != kHostLocation &&
        std::ranges::all_of(steps, [&](uint32_t pc) { return streams.stream_of[pc] == stream; });
    for (uint32_t pc = steps.back(); pc < count; ++pc) {
      const auto is_done = [&](uint32_t user) { return streams.host_knows_done(pc, user); };
      if (!is_of_one_stream && !std::ranges::all_of(steps, is_done)) continue;
      releases[pc].push_back(root);
      break;
    }
  }
  return releases;
}

}  // namespace

Result<StreamAssignment> assign_streams(const ExecutionPlan& execution,
                                        const AllocationPlan& allocation,
                                        std::span<const StepQueue> queues,
                                        std::span<const uint32_t> compute_streams) {
  StreamAssignment assignment;
  const auto is_on_device = [](const StepQueue& queue) { return queue.device != kNoDevice; };
  if (std::ranges::none_of(queues, is_on_device)) return assignment;
  MemoryOptions options;
  options.enable_mem_pattern = false;
  EPHOST_ASSIGN_OR_RETURN(const MemoryPattern none, plan_memory(allocation, {}, options));
  const StepDependencies dependencies = find_dependencies(execution, allocation, none);
  StreamChooser(queues, compute_streams).run(predecessors_of(dependencies), assignment);
  return assignment;
}

std::vector<uint32_t> memory_groups(const StreamAssignment& assignment) {
  const auto is_second = [](const PlannedStream& stream) { return stream.number != 0; };
  if (std::ranges::none_of(assignment.streams, is_second)) return {};
  return assignment.stream_of;
}

StreamPlan plan_streams(const ExecutionPlan& execution, const AllocationPlan& allocation,
                        const MemoryPattern& pattern, std::span<const StepQueue> queues,
                        const StreamAssignment& assignment,
                        std::span<const std::optional<uint64_t>> sizes) {
  StreamPlan plan;
  if (assignment.streams.empty()) return plan;
  static_cast<StreamAssignment&>(plan) = assignment;
  WaitFinder(execution, allocation, queues, plan)
      .run(predecessors_of(find_dependencies(execution, allocation, pattern, sizes)));
  plan.releases = find_releases(execution, allocation, pattern, plan);
  return plan;
}

}  // namespace ephost::plan
