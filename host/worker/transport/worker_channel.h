// The worker's end of a channel. One thread serves it: receive, call the plugin, answer; other
// threads of the plugin may call back meanwhile. It trusts the host.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <variant>

#include "host/base/files/file_descriptor.h"
#include "host/worker/transport/channel_page.h"
#include "host/worker/transport/message.h"
#include "host/worker/transport/turns.h"

namespace ephost::worker {

// A request in the hot area.
struct HotRequest {
  uint32_t size = 0;
};
// The host has closed the channel.
struct Closed {};
using Request = std::variant<Message, HotRequest, Closed>;

class WorkerChannel {
 public:
  // Maps the page of a channel whose ends the host has made.
  static Result<std::unique_ptr<WorkerChannel>> open(FileDescriptor socket, FileDescriptor page);
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;
  ~WorkerChannel();

  // Waits for the next request. Only by the thread that serves the channel, as the two below.
  [[nodiscard]] Request receive();
  // Ends the call; what kind of request it was does not matter. FAIL, without an effect, if the
  // message is too large.
  [[nodiscard]] Status answer(Message message);
  void answer_hot(uint32_t size);

  // Asks the host something while a call lasts. From any thread; one at a time has the host's ear.
  // FAIL outside of a call, when the message is too large, and when the host is gone.
  [[nodiscard]] Result<Message> call_back(Message message);

  // Tells the host something without waiting for it. From any thread. False outside of a call, and
  // when the socket is full: then call_back may be used.
  [[nodiscard]] bool post(Message message);

  [[nodiscard]] std::span<std::byte> hot_area() { return page_->hot; }
  // Whether the host wants the current call to end early. From any thread; costs one load.
  [[nodiscard]] bool is_cancelled() const noexcept {
    return page_->is_cancelled.load(std::memory_order_relaxed) != 0;
  }

 private:
  WorkerChannel(FileDescriptor socket, ChannelPage* page);

  FileDescriptor socket_;
  ChannelPage* page_;
  Turn last_ = Turn::kIdle;  // what was passed on last
  SpinBudget spin_;
  std::mutex turn_mutex_;    // of callbacks and answers
  bool is_in_call_ = false;  // guarded by turn_mutex_
};

}  // namespace ephost::worker
