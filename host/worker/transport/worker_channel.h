// The worker's end of a channel. One thread serves it: receive, call the plugin, answer; other
// threads of the plugin may call back meanwhile. It trusts the host.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <variant>

#include "host/base/files/file_descriptor.h"
#include "host/base/memory/shared_mapping.h"
#include "host/worker/transport/channel_page.h"
#include "host/worker/transport/message.h"
#include "host/worker/transport/packets.h"
#include "host/worker/transport/turns.h"

namespace ephost::worker {

// A request in the hot area.
struct HotRequest {
  uint32_t size = 0;
};
// A request that could not be received, for want of memory or descriptors. To be answered.
struct LostRequest {
  Status reason;
};
// The host has closed the channel.
struct Closed {};
using Request = std::variant<Message, HotRequest, LostRequest, Closed>;

// Owned by a shared pointer: threads that serve no channel keep those that they may post by.
class WorkerChannel : public std::enable_shared_from_this<WorkerChannel> {
 public:
  // Maps the page of a channel whose ends the host has made, and tells it that the channel is open.
  static Result<std::shared_ptr<WorkerChannel>> open(FileDescriptor socket, FileDescriptor page);
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;

  // Waits for the next request. Only by the thread that serves the channel, as the two below.
  [[nodiscard]] Request receive();
  // Ends the call; what kind of request it was does not matter. A failure has no effect:
  // INVALID_ARGUMENT if the message is too large, FAIL if memory or descriptors run out.
  [[nodiscard]] Status answer(const Message& message);
  void answer_hot(uint32_t size);

  // Asks the host something while a call lasts. From any thread; one at a time has the host's ear.
  // FAIL outside of a call, when memory or descriptors run out here or in the host, and when the
  // host is gone; INVALID_ARGUMENT when the message is too large.
  [[nodiscard]] Result<Message> call_back(const Message& message);
  // The same, but nothing, at once, while a callback of another thread or an answer is under way.
  [[nodiscard]] std::optional<Result<Message>> try_to_call_back(const Message& message);

  // Tells the host something, of at most kMaxPostBytes, without waiting for anything that the host
  // does. From any thread. False outside of a call, while a callback is under way, when the socket
  // is full, and when the message is too large: then call_back may be used.
  [[nodiscard]] bool post(Message message);

  [[nodiscard]] std::span<std::byte> hot_area() { return page_->hot; }
  // Whether the host wants the current call to end early. From any thread; costs one load.
  [[nodiscard]] bool is_cancelled() const noexcept {
    return page_->is_cancelled.load(std::memory_order_relaxed) != 0;
  }

 private:
  WorkerChannel(FileDescriptor socket, SharedMapping page);

  [[nodiscard]] Result<Message> take_message();
  [[nodiscard]] Result<Message> call_back_locked(const Message& message);
  void take_posts(bool takes);

  FileDescriptor socket_;
  const SharedMapping mapping_;
  ChannelPage* const page_;
  Turn last_ = Turn::kIdle;  // what was passed on last
  SpinBudget spin_;
  const std::unique_ptr<PacketBuffer> buffer_ = std::make_unique_for_overwrite<PacketBuffer>();
  std::mutex turn_mutex_;    // of callbacks and answers; held until the host has answered
  bool is_in_call_ = false;  // guarded by turn_mutex_
  std::mutex post_mutex_;    // never held while a thread waits; taken after turn_mutex_
  // Guarded by post_mutex_: in a call, and no message of it is in the socket that a post could come
  // before.
  bool takes_posts_ = false;
};

}  // namespace ephost::worker
