// The streams of a frame: before a step, its stream or the host waits for what the plan says; after
// it, a point is recorded where another one waits. One thread at a time.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/bridge/extensions/stream.h"
#include "host/plan/streams/stream_plan.h"
#include "host/runtime/frame/stop_signal.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

class FrameStreams {
 public:
  // Borrows both.
  FrameStreams(const Program& program, const StopSignal& stop) : program_(program), stop_(stop) {}
  FrameStreams(const FrameStreams&) = delete;
  FrameStreams& operator=(const FrameStreams&) = delete;

  // Enqueues steps as the plan says, which is borrowed until another one is bound. Nothing is
  // enqueued at that time.
  void bind(const plan::StreamPlan& plan) { plan_ = &plan; }
  // Creates the streams that are missing: in the first run, for another plan, and where one has
  // failed.
  [[nodiscard]] Status begin_run();
  // The stream of a step; null where the host runs it.
  [[nodiscard]] const bridge::Stream* stream_of(size_t step) const {
    const uint32_t stream = plan_->stream_of[step];
    return stream == plan::kHostStream ? nullptr : queues_[stream - 1]->stream.get();
  }

  // The failure of a call about a step. Where its stream has failed before, which any later call
  // may say, it is the failure of the step that was enqueued then.
  [[nodiscard]] Status explain(size_t step, Status status) const;

  // Waits for what the plan says; records what it says. Failures are explained.
  [[nodiscard]] Status begin_step(uint32_t step);
  [[nodiscard]] Status end_step(uint32_t step);
  // Waits until the step is done, as it has been enqueued.
  [[nodiscard]] Status finish_step(uint32_t step);
  // Waits for all that was enqueued, whatever fails, or for what has begun if the run is cancelled;
  // returns the first failure.
  Status end_run();

 private:
  struct Queue {
    plan::PlannedStream of;
    std::unique_ptr<bridge::Stream> stream;  // null after a failure
    // Enqueued steps since the last two points that bound what is enqueued.
    uint32_t enqueued = 0;
    eph_point mark = 0;
    bool is_used = false;  // in this run, since the host last waited for all of it
  };

  [[nodiscard]] Queue& queue_of(uint32_t step) { return *queues_[plan_->stream_of[step] - 1]; }
  Status wait_for(Queue& queue, eph_point point);
  Status record_and_wait(Queue& queue);
  Status limit(Queue& queue);
  Status finish(Queue& queue);
  [[nodiscard]] Status failure(const bridge::Stream& stream, bridge::StreamWait wait) const;
  [[nodiscard]] Status explain(const bridge::Stream& stream, Status status) const;

  const Program& program_;
  const StopSignal& stop_;
  const plan::StreamPlan* plan_ = nullptr;
  std::vector<std::unique_ptr<Queue>> known_;  // all that were ever needed
  std::vector<Queue*> queues_;                 // those of the plan, in its order
  std::vector<eph_point> points_;              // by step
  std::vector<Queue*> ending_;                 // those that the run has used
};

}  // namespace ephost::runtime
