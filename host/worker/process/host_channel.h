// The host's end of a channel to a worker: calls, one at a time. Channels come from
// WorkerProcess::channel() (host/worker/process/worker_process.h).
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "host/base/files/file_descriptor.h"
#include "host/base/function_ref.h"
#include "host/base/memory/shared_memory.h"
#include "host/worker/transport/channel_page.h"
#include "host/worker/transport/message.h"
#include "host/worker/transport/packets.h"
#include "host/worker/transport/staging.h"
#include "host/worker/transport/turns.h"

namespace ephost::worker {

class WorkerState;

// Answers one callback of the worker. A failure ends the worker: it is for messages that break the
// protocol, and says what was wrong with them ("names kernel 7, which does not exist").
using OnCallback = FunctionRef<Result<Message>(Message)>;

// Takes what the worker posted. A failure ends the worker, too. What throws is lost.
using OnPosted = FunctionRef<Status(Message)>;

// The options of one call; everything is borrowed while it lasts.
struct CallOptions {
  OnCallback on_callback = {};  // without one, any callback breaks the protocol
  // While the call lasts, at its end, and when the worker ends. Without one, posts are dropped.
  OnPosted on_posted = {};
  // Longest duration, callbacks included; zero: no limit. When it is over the worker is killed.
  std::chrono::nanoseconds limit{0};
  // What has the limit, for the message: "session.isolation.run_seconds".
  std::string_view limit_name = {};
  // Asked now and then while the call lasts, at least every few milliseconds; when it says true the
  // worker's is_cancelled() does so too, until the call ends.
  FunctionRef<bool()> is_cancelled = {};
};

// Used by one thread at a time. A call within on_callback needs another channel.
//
// Failures of a call after which the worker lives are INVALID_ARGUMENT, where the request is too
// large and was not sent, and FAIL or OUT_OF_MEMORY, where this process is short of memory or
// descriptors, for the request, which was not sent, or for the answer, which is lost. Every other
// failure is EP_FAIL and final: the worker has ended, or was ended because it broke the protocol or
// missed a deadline. The message says which worker and how; each further call fails with the same.
//
// Where memory or descriptors run out while a callback is answered, the callback fails in the
// worker, and the call continues.
class HostChannel {
 public:
  HostChannel(const HostChannel&) = delete;
  HostChannel& operator=(const HostChannel&) = delete;
  ~HostChannel();

  // Sends a request and returns the answer, which is untrusted.
  [[nodiscard]] Result<Message> call(Message request, const CallOptions& options = {});

  // Hands the worker the first `request_size` bytes of the hot area; returns the size of the answer
  // that it left there, which is at most that of the area. Takes one round trip of a futex.
  [[nodiscard]] Result<uint32_t> call_hot(uint32_t request_size, const CallOptions& options = {});

  // The worker may change it at any time: read each byte once, then check what was read.
  [[nodiscard]] std::span<std::byte> hot_area() { return page_->hot; }

  // Memory for the values of the current call that lie in no region, or that the worker writes. It
  // may do so at any time.
  [[nodiscard]] Staging& staging() { return staging_; }

  // Ends the worker, because what it sent is wrong: "an answer with 3 outputs instead of 2".
  // Returns the failure with which calls fail from now on.
  [[nodiscard]] Status reject(std::string_view what);

 private:
  friend class WorkerState;
  HostChannel(std::shared_ptr<WorkerState> state, FileDescriptor socket, SharedMemory page);

  [[nodiscard]] Status begin(const CallOptions& options);
  [[nodiscard]] Result<Turn> finish(Turn passed, const CallOptions& options);
  [[nodiscard]] Result<Turn> answer_callback(const CallOptions& options);
  [[nodiscard]] Status try_to_answer(const CallOptions& options);
  [[nodiscard]] Result<Turn> wait(Turn passed, const CallOptions& options);
  [[nodiscard]] Status put_message(const Message& message);
  [[nodiscard]] Result<Message> take_message();
  [[nodiscard]] Status take_posted(const CallOptions& options);
  [[nodiscard]] Status take_last_posted(const CallOptions& options, Status failure);
  // Ends the worker's thread of this channel, and wakes ours; also by the watcher's thread.
  void close();

  std::shared_ptr<WorkerState> state_;
  FileDescriptor socket_;
  SharedMemory page_memory_;
  ChannelPage* page_;
  Staging staging_;
  const std::unique_ptr<PacketBuffer> buffer_ = std::make_unique_for_overwrite<PacketBuffer>();
  SpinBudget spin_;
  uint32_t posted_ = 0;                             // that were taken
  std::chrono::steady_clock::time_point deadline_;  // of the current call
};

}  // namespace ephost::worker
