#include "host/worker/process/host_channel.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/memory/shared_mapping.h"
#include "host/worker/process/worker_state.h"

namespace ephost::worker {
namespace {

// The watcher wakes the waiting threads when the worker ends. A process that the worker has left
// behind could undo that, so they look again now and then.
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kSliceOfCancellation = std::chrono::milliseconds(2);
// Posts that are taken before the time is looked at, and in all from a worker that has ended; its
// socket held fewer.
constexpr size_t kPostsInARow = 256;
constexpr size_t kLastPosts = 1024;

// What throws has no memory left, and only this post is lost.
Status handle_posted(Message message, const CallOptions& options) {
  if (!options.on_posted) return Status::ok_status();
  try {
    return options.on_posted(std::move(message));
  } catch (const std::exception&) {
    return Status::ok_status();
  }
}

}  // namespace

HostChannel::HostChannel(std::shared_ptr<WorkerState> state, FileDescriptor socket,
                         SharedMemory page)
    : state_(std::move(state)),
      socket_(std::move(socket)),
      page_memory_(std::move(page)),
      page_(new (page_memory_.bytes().data()) ChannelPage) {}

HostChannel::~HostChannel() {
  if (!state_->is_of_this_process()) return;
  state_->forget(this);
  close();
}

void HostChannel::close() { pass_turn(*page_, Turn::kClosed); }

Status HostChannel::reject(std::string_view what) {
  state_->kill(formatted("it sent {}", what));
  return state_->status();
}

Result<Message> HostChannel::call(Message request, const CallOptions& options) {
  EPHOST_RETURN_IF_ERROR(begin(options));
  EPHOST_RETURN_IF_ERROR(put_message(request));
  EPHOST_ASSIGN_OR_RETURN(const Turn turn, finish(Turn::kRequest, options));
  if (turn != Turn::kAnswer) return reject("the answer to another kind of call");
  return take_message();
}

Result<uint32_t> HostChannel::call_hot(uint32_t request_size, const CallOptions& options) {
  EPHOST_RETURN_IF_ERROR(begin(options));
  page_->size.store(request_size, std::memory_order_relaxed);
  EPHOST_ASSIGN_OR_RETURN(const Turn turn, finish(Turn::kHotRequest, options));
  if (turn != Turn::kHotAnswer) return reject("the answer to another kind of call");
  const uint32_t size = page_->size.load(std::memory_order_relaxed);
  if (size > kHotAreaBytes) return reject(formatted("an answer of {} bytes", size));
  return size;
}

Status HostChannel::begin(const CallOptions& options) {
  if (!state_->is_of_this_process() || !state_->is_usable()) return state_->status();
  page_->is_cancelled.store(0, std::memory_order_relaxed);
  if (options.limit.count() != 0) deadline_ = std::chrono::steady_clock::now() + options.limit;
  return Status::ok_status();
}

Result<Turn> HostChannel::finish(Turn passed, const CallOptions& options) {
  try {
    while (true) {
      pass_turn(*page_, passed);
      EPHOST_ASSIGN_OR_RETURN(const Turn turn, wait(passed, options));
      if (turn != Turn::kCallback) return turn;
      EPHOST_ASSIGN_OR_RETURN(passed, answer_callback(options));
    }
  } catch (...) {
    state_->kill("the host could not continue the call");
    throw;
  }
}

// The turn to pass on.
Result<Turn> HostChannel::answer_callback(const CallOptions& options) {
  if (!options.on_callback) return reject("a callback within a call that has none");
  try {
    const Status answered = try_to_answer(options);
    if (answered.ok()) return Turn::kCallbackAnswer;
    if (is_shortage(answered)) return Turn::kCallbackFailed;
    return answered;
  } catch (const std::bad_alloc&) {
    return Turn::kCallbackFailed;
  }
}

// FAIL: there is no answer for want of memory or descriptors.
Status HostChannel::try_to_answer(const CallOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(Message question, take_message());
  Result<Message> answer = options.on_callback(std::move(question));
  if (!answer.ok()) return reject(answer.status().message());
  const Status sent = put_message(*answer);
  if (sent.code() != StatusCode::kInvalidArgument) return sent;
  state_->kill(sent.message());
  return state_->status();
}

Result<Turn> HostChannel::wait(Turn passed, const CallOptions& options) {
  bool has_more = false;
  while (true) {
    if (!state_->is_usable()) return take_last_posted(options, state_->status());
    std::chrono::nanoseconds slice = options.is_cancelled ? kSliceOfCancellation : kSlice;
    if (options.limit.count() != 0) {
      const std::chrono::nanoseconds left = deadline_ - std::chrono::steady_clock::now();
      if (left.count() <= 0) {
        const std::chrono::duration<double> limit = options.limit;
        state_->kill(formatted("it took longer than {} s{}{}", limit.count(),
                               options.limit_name.empty() ? "" : ", the limit of ",
                               options.limit_name));
        return take_last_posted(options, state_->status());
      }
      slice = std::min(slice, left);
    }
    if (has_more) slice = std::chrono::nanoseconds(0);
    const uint32_t turn = wait_for_turn(*page_, passed, spin_, slice);
    if (turn == static_cast<uint32_t>(Turn::kClosed)) {
      return take_last_posted(options, state_->failure_after_hangup());
    }
    // All posts before the turn.
    EPHOST_RETURN_IF_ERROR(take_posted(options));
    has_more = page_->posted.load(std::memory_order_acquire) != posted_;
    const bool is_ours = turn != static_cast<uint32_t>(passed);
    if (is_ours && !has_more) {
      const auto now = static_cast<Turn>(turn);
      if (now == Turn::kCallback || now == Turn::kAnswer || now == Turn::kHotAnswer) return now;
      return reject("an invalid turn");
    }
    if (options.is_cancelled && options.is_cancelled()) {
      page_->is_cancelled.store(1, std::memory_order_relaxed);
    }
  }
}

Status HostChannel::put_message(const Message& message) {
  const bool is_short = message.descriptors.empty() && message.bytes.size() <= kShortMessageBytes;
  if (is_short) {
    std::memcpy(page_->message.data(), message.bytes.data(), message.bytes.size());
    page_->size.store(static_cast<uint32_t>(message.bytes.size()), std::memory_order_relaxed);
  } else if (Status sent = send_packet(socket_, message, Waiting::kNo); !sent.ok()) {
    if (sent.code() != StatusCode::kEpFail) return sent;
    return state_->failure_after_hangup(sent.message());
  }
  page_->place.store(is_short ? 1 : 0, std::memory_order_relaxed);
  return Status::ok_status();
}

Result<Message> HostChannel::take_message() {
  const auto place = static_cast<MessagePlace>(page_->place.load(std::memory_order_relaxed));
  const uint32_t size = page_->size.load(std::memory_order_relaxed);
  if (place == MessagePlace::kPage) {
    if (size > kShortMessageBytes) return reject(formatted("a short message of {} bytes", size));
    return Message{std::string(reinterpret_cast<const char*>(page_->message.data()), size)};
  }
  if (place == MessagePlace::kLong) {
    if (size > kMaxFromWorkerBytes) return reject(formatted("a message of {} bytes", size));
    const auto* const area = reinterpret_cast<const char*>(page_->long_message.data());
    Message message{std::string(area, size)};
    // It counts as the host's memory.
    discard_shared(page_->long_message);
    return message;
  }
  if (place != MessagePlace::kSocket) return reject("a message in no place");
  Result<std::optional<Message>> message =
      receive_packet(socket_, Waiting::kNo, *buffer_, kMaxFromWorkerBytes);
  if (is_shortage(message.status())) return message.status();
  if (!message.ok()) return reject("an invalid message: " + message.status().message());
  if (!*message) return state_->failure_after_hangup();
  if ((*message)->is_posted) return reject("a post that it did not count");
  return std::move(**message);
}

// What the page counts is in the socket already. Takes not too many at a time.
Status HostChannel::take_posted(const CallOptions& options) {
  const uint32_t count = page_->posted.load(std::memory_order_acquire) - posted_;
  for (uint32_t i = 0; i < std::min<uint32_t>(count, kPostsInARow); ++i) {
    Result<std::optional<Message>> message = receive_packet(socket_, Waiting::kNo, *buffer_);
    if (!message.ok()) return reject("an invalid message: " + message.status().message());
    if (!*message) return state_->failure_after_hangup();
    if (!(*message)->is_posted) return reject("a message out of turn");
    ++posted_;
    const Status taken = handle_posted(std::move(**message), options);
    if (!taken.ok()) return reject(taken.message());
  }
  return Status::ok_status();
}

// The worker has ended with `failure`; what it said before is in the socket.
Status HostChannel::take_last_posted(const CallOptions& options, Status failure) {
  for (size_t i = 0; options.on_posted && i < kLastPosts; ++i) {
    Result<std::optional<Message>> message = receive_packet(socket_, Waiting::kNo, *buffer_);
    if (!message.ok() || !*message || !(*message)->is_posted) break;
    if (!handle_posted(std::move(**message), options).ok()) break;
  }
  return failure;
}

}  // namespace ephost::worker
