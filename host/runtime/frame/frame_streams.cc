#include "host/runtime/frame/frame_streams.h"

#include <algorithm>
#include <utility>

#include "host/base/status_kinds.h"

namespace ephost::runtime {
namespace {

// At most twice as many steps are enqueued on a stream: a run that is cancelled waits for them.
constexpr uint32_t kMarkDistance = 256;
// How often a wait looks whether the run was cancelled.
constexpr uint64_t kLookNs = 5'000'000;

int32_t purpose_of(plan::StreamPurpose purpose) {
  switch (purpose) {
    case plan::StreamPurpose::kCopyIn:
      return EPH_STREAM_COPY_IN;
    case plan::StreamPurpose::kCopyOut:
      return EPH_STREAM_COPY_OUT;
    case plan::StreamPurpose::kCompute:
      break;
  }
  return EPH_STREAM_COMPUTE;
}

}  // namespace

Status FrameStreams::begin_run() {
  points_.assign(plan_->stream_of.size(), 0);
  queues_.clear();
  for (const plan::PlannedStream& wanted : plan_->streams) {
    const auto found =
        std::ranges::find_if(known_, [&](const auto& queue) { return queue->of == wanted; });
    if (found == known_.end()) {
      known_.push_back(std::make_unique<Queue>(Queue{wanted, nullptr}));
      queues_.push_back(known_.back().get());
    } else {
      queues_.push_back(found->get());
    }
    Queue& queue = *queues_.back();
    queue.enqueued = 0;
    queue.mark = 0;
    if (queue.stream != nullptr) continue;
    const ProgramStreams& streams = program_.streams();
    const bool is_native = wanted.purpose == plan::StreamPurpose::kCompute;
    EPHOST_ASSIGN_OR_RETURN(
        queue.stream,
        bridge::Stream::create(streams.devices[wanted.device], purpose_of(wanted.purpose),
                               is_native ? streams.native_queues[wanted.device] : 0));
  }
  return Status::ok_status();
}

Status FrameStreams::begin_step(uint32_t step) {
  for (const auto& [earlier, is_by_host] : plan_->waits_of(step)) {
    Queue& other = queue_of(earlier);
    if (is_by_host) {
      EPHOST_RETURN_IF_ERROR(wait_for(other, points_[earlier]));
    } else {
      Queue& queue = queue_of(step);
      queue.is_used = true;
      Status status = queue.stream->wait(*other.stream, points_[earlier]);
      if (!status.ok()) return explain(*queue.stream, std::move(status));
    }
  }
  if (plan_->stream_of[step] != plan::kHostStream) queue_of(step).is_used = true;
  return Status::ok_status();
}

Status FrameStreams::end_step(uint32_t step) {
  if (plan_->stream_of[step] == plan::kHostStream) return Status::ok_status();
  Queue& queue = queue_of(step);
  if (plan_->is_recorded[step]) {
    auto point = queue.stream->record();
    if (!point.ok()) return explain(*queue.stream, std::move(point).status());
    points_[step] = *point;
  }
  return ++queue.enqueued < kMarkDistance ? Status::ok_status() : limit(queue);
}

Status FrameStreams::limit(Queue& queue) {
  queue.enqueued = 0;
  auto mark = queue.stream->record();
  if (!mark.ok()) return explain(*queue.stream, std::move(mark).status());
  const eph_point before = std::exchange(queue.mark, *mark);
  return before == 0 ? Status::ok_status() : wait_for(queue, before);
}

Status FrameStreams::finish_step(uint32_t step) { return record_and_wait(queue_of(step)); }

Status FrameStreams::record_and_wait(Queue& queue) {
  auto point = queue.stream->record();
  if (!point.ok()) return explain(*queue.stream, std::move(point).status());
  return wait_for(queue, *point);
}

Status FrameStreams::wait_for(Queue& queue, eph_point point) {
  const bridge::Stream& stream = *queue.stream;
  if (!stop_.may_be_cancelled()) {
    bridge::StreamWait wait = stream.wait_host(point, UINT64_MAX);
    return wait.status.ok() ? wait.status : failure(stream, std::move(wait));
  }
  while (true) {
    bridge::StreamWait wait = stream.wait_host(point, kLookNs);
    if (wait.status.ok()) return wait.status;
    if (wait.is_over) return failure(stream, std::move(wait));
    if (stop_.is_cancelled()) return stop_.why_stopping();
  }
}

Status FrameStreams::failure(const bridge::Stream& stream, bridge::StreamWait wait) const {
  const bool has_step = wait.step < program_.steps().size();
  Status status = stop_.judge(
      has_step ? std::move(wait.status).with_context("running " + program_.describe_step(wait.step))
               : std::move(wait.status));
  if (!is_cancellation(status)) stop_.note_failure(stream.device().provider_name());
  return status;
}

Status FrameStreams::explain(size_t step, Status status) const {
  const bridge::Stream* const stream = stream_of(step);
  if (status.ok() || stream == nullptr) return status;
  return explain(*stream, std::move(status));
}

Status FrameStreams::explain(const bridge::Stream& stream, Status status) const {
  bridge::StreamWait wait = stream.wait_host(0, 0);
  if (wait.step < program_.steps().size()) return failure(stream, std::move(wait));
  return status;
}

// Waits for all of a queue; where the run is cancelled meanwhile, what has not begun is abandoned.
Status FrameStreams::finish(Queue& queue) {
  auto point = queue.stream->record();
  if (!point.ok()) return explain(*queue.stream, std::move(point).status());
  bool looks = stop_.may_be_cancelled();
  while (true) {
    if (looks && stop_.is_cancelled()) {
      for (Queue* const one : ending_) one->stream->abandon();
      looks = false;
    }
    bridge::StreamWait wait = queue.stream->wait_host(*point, looks ? kLookNs : UINT64_MAX);
    if (!wait.status.ok() && wait.is_over) return failure(*queue.stream, std::move(wait));
    if (wait.is_over) return wait.status;
  }
}

Status FrameStreams::end_run() {
  ending_.clear();
  for (const std::unique_ptr<Queue>& queue : known_) {
    if (std::exchange(queue->is_used, false)) ending_.push_back(queue.get());
  }
  Status first;
  std::vector<Queue*> failed;
  for (Queue* const queue : ending_) {
    Status status = finish(*queue);
    if (status.ok()) continue;
    failed.push_back(queue);
    if (first.ok()) first = std::move(status);
  }
  // Not before all have ended, as they may wait for each other. Waits for what still runs.
  for (Queue* const queue : failed) queue->stream.reset();
  return first;
}

}  // namespace ephost::runtime
