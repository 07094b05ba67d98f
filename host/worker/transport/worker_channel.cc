#include "host/worker/transport/worker_channel.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "host/base/format.h"

namespace ephost::worker {
namespace {

// A host that dies takes the worker along, so there is nothing to look for in between.
constexpr std::chrono::seconds kIdleSlice{10};

uint32_t wait(ChannelPage& page, Turn last, SpinBudget& spin) {
  uint32_t turn = static_cast<uint32_t>(last);
  while (turn == static_cast<uint32_t>(last)) turn = wait_for_turn(page, last, spin, kIdleSlice);
  return turn;
}

Status put_message(ChannelPage& page, const FileDescriptor& socket, const Message& message) {
  const size_t size = message.bytes.size();
  MessagePlace place = MessagePlace::kSocket;
  if (message.descriptors.empty() && size <= kMaxFromWorkerBytes) {
    const bool is_short = size <= kShortMessageBytes;
    place = is_short ? MessagePlace::kPage : MessagePlace::kLong;
    std::byte* const area = is_short ? page.message.data() : page.long_message.data();
    std::memcpy(area, message.bytes.data(), size);
    page.size.store(static_cast<uint32_t>(size), std::memory_order_relaxed);
  } else {
    EPHOST_RETURN_IF_ERROR(send_packet(socket, message, Waiting::kYes));
  }
  page.place.store(static_cast<uint32_t>(place), std::memory_order_relaxed);
  return Status::ok_status();
}

}  // namespace

WorkerChannel::WorkerChannel(FileDescriptor socket, SharedMapping page)
    : socket_(std::move(socket)),
      mapping_(std::move(page)),
      page_(reinterpret_cast<ChannelPage*>(mapping_.bytes().data())) {}

Result<std::shared_ptr<WorkerChannel>> WorkerChannel::open(FileDescriptor socket,
                                                           FileDescriptor page) {
  Result<SharedMapping> mapping =
      SharedMapping::map(page, 0, sizeof(ChannelPage), SharedAccess::kReadWrite);
  if (!mapping.ok()) {
    return Status(StatusCode::kFail,
                  formatted("cannot map the memory of a channel: {}", mapping.status().message()));
  }
  std::shared_ptr<WorkerChannel> channel(new WorkerChannel(std::move(socket), *std::move(mapping)));
  const Message opened{std::string(kChannelOpen)};
  EPHOST_RETURN_IF_ERROR(send_packet(channel->socket_, opened, Waiting::kNo));
  return channel;
}

Result<Message> WorkerChannel::take_message() {
  if (page_->place.load(std::memory_order_relaxed) != 0) {
    const size_t size =
        std::min<size_t>(page_->size.load(std::memory_order_relaxed), kShortMessageBytes);
    return Message{std::string(reinterpret_cast<const char*>(page_->message.data()), size)};
  }
  EPHOST_ASSIGN_OR_RETURN(std::optional<Message> message,
                          receive_packet(socket_, Waiting::kYes, *buffer_));
  if (!message) return Status(StatusCode::kEpFail, "the host is gone");
  return std::move(*message);
}

void WorkerChannel::take_posts(bool takes) {
  const std::lock_guard lock(post_mutex_);
  takes_posts_ = takes;
}

Request WorkerChannel::receive() {
  const auto turn = static_cast<Turn>(wait(*page_, last_, spin_));
  Request request = Closed{};
  if (turn == Turn::kHotRequest) {
    request = HotRequest{page_->size.load(std::memory_order_relaxed)};
  } else if (turn == Turn::kRequest) {
    try {
      Result<Message> message = take_message();
      if (message.ok()) {
        request = std::move(*message);
      } else if (is_shortage(message.status())) {
        request = LostRequest{message.status()};
      }
    } catch (const std::bad_alloc&) {
      request =
          LostRequest{Status(StatusCode::kOutOfMemory, "the worker has no memory for the request")};
    }
  }
  if (std::holds_alternative<Closed>(request)) return request;
  const std::lock_guard lock(turn_mutex_);
  is_in_call_ = true;
  take_posts(true);
  return request;
}

Status WorkerChannel::answer(const Message& message) {
  const std::lock_guard lock(turn_mutex_);
  take_posts(false);
  if (Status put = put_message(*page_, socket_, message); !put.ok()) {
    take_posts(true);
    return put;
  }
  is_in_call_ = false;
  last_ = Turn::kAnswer;
  pass_turn(*page_, last_);
  return Status::ok_status();
}

void WorkerChannel::answer_hot(uint32_t size) {
  const std::lock_guard lock(turn_mutex_);
  take_posts(false);
  page_->size.store(size, std::memory_order_relaxed);
  is_in_call_ = false;
  last_ = Turn::kHotAnswer;
  pass_turn(*page_, last_);
}

Result<Message> WorkerChannel::call_back(const Message& message) {
  const std::lock_guard lock(turn_mutex_);
  return call_back_locked(message);
}

std::optional<Result<Message>> WorkerChannel::try_to_call_back(const Message& message) {
  const std::unique_lock lock(turn_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return call_back_locked(message);
}

Result<Message> WorkerChannel::call_back_locked(const Message& message) {
  if (!is_in_call_) {
    return Status(StatusCode::kFail, "the host cannot be called outside of a call");
  }
  take_posts(false);
  if (Status put = put_message(*page_, socket_, message); !put.ok()) {
    take_posts(true);
    return put;
  }
  pass_turn(*page_, Turn::kCallback);
  const auto turn = static_cast<Turn>(wait(*page_, Turn::kCallback, spin_));
  if (turn != Turn::kCallbackAnswer && turn != Turn::kCallbackFailed) {
    is_in_call_ = false;
    return Status(StatusCode::kFail, "the host is gone");
  }
  if (turn == Turn::kCallbackFailed) {
    take_posts(true);
    return Status(StatusCode::kFail, "the host is short of memory or descriptors for its answer");
  }
  Result<Message> answer = take_message();
  take_posts(true);
  return answer;
}

bool WorkerChannel::post(Message message) {
  message.is_posted = true;
  const std::lock_guard lock(post_mutex_);
  if (!takes_posts_ || !send_packet(socket_, message, Waiting::kNo).ok()) return false;
  page_->posted.fetch_add(1, std::memory_order_release);
  return true;
}

}  // namespace ephost::worker
