#include "host/worker/process/worker_state.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"
#include "host/base/processes/waiting.h"
#include "host/base/text.h"
#include "host/worker/transport/packets.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {
namespace {

// A worker that has closed its end is about to be reaped, or does not play by the rules.
constexpr std::chrono::milliseconds kHangupWait{500};

}  // namespace

WorkerState::WorkerState(WorkerOptions options, FileDescriptor socket, SharedMemory report)
    : options_(std::move(options)), socket_(std::move(socket)), report_(std::move(report)) {}

void WorkerState::set_started(ProcessId pid, FileDescriptor process) {
  pid_ = pid;
  process_ = std::move(process);
}

// The signals of limits say which limit it was, whatever else the report says.
void WorkerState::explain_locked(Ending& ending) const {
  if (!kill_reason_.empty()) {
    ending.kind = Ending::Kind::kKilled;
    ending.reason = kill_reason_;
  }
  ending.report = read_report(*reinterpret_cast<const CrashPage*>(report_.bytes().data()));
  if (ending.kind == Ending::Kind::kSignalled && ending.value == SIGBUS) {
    if (const auto file = find_truncated_file()) {
      ending.is_applications = true;
      ending.reason = formatted(
          "the file {} was truncated while it was in use; this does not count "
          "against the plugin",
          quote(file->native()));
      return;
    }
  }
  if (ending.kind != Ending::Kind::kSignalled || options_.limits.cpu_seconds == 0) return;
  if (ending.value == SIGXCPU) {
    ending.reason = formatted("it used more than {} s of processor time, its limit cpu_seconds",
                              options_.limits.cpu_seconds);
  }
}

std::function<void()> WorkerState::set_ended(Ending ending) {
  bool is_failure = false;
  {
    const std::lock_guard lock(mutex_);
    // Now: the threads that wait for the end dismiss the worker once they know of it.
    if (!is_dismissed_) has_failed_ = true;
    is_failure = has_failed_;
    explain_locked(ending);
    ending_ = ending;
    is_over_.store(true, std::memory_order_release);
    for (HostChannel* channel : channels_) channel->close();
    ended_.notify_all();
  }
  if (!is_failure || !options_.on_failure) return {};
  return [self = shared_from_this(), ending] { self->options_.on_failure(ending); };
}

Status WorkerState::failure_locked() const {
  const std::string who = "the worker of " + quote(options_.name) + " ";
  if (ending_) return Status(StatusCode::kEpFail, who + describe(*ending_));
  if (kill_reason_.empty()) return Status::ok_status();
  return Status(StatusCode::kEpFail,
                who + describe(Ending{.kind = Ending::Kind::kKilled, .reason = kill_reason_}));
}

Status WorkerState::status() const {
  if (!is_of_this_process()) {
    return Status(
        StatusCode::kEpFail,
        formatted("the worker of {} belongs to the process that this one was forked from; "
                  "create sessions after the fork",
                  quote(options_.name)));
  }
  const std::lock_guard lock(mutex_);
  return failure_locked();
}

Status WorkerState::failure() const {
  if (!has_failed_.load(std::memory_order_acquire) || !is_of_this_process()) {
    return Status::ok_status();
  }
  const std::lock_guard lock(mutex_);
  return failure_locked();
}

std::optional<Ending> WorkerState::ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

Status WorkerState::failure_after_hangup(const std::string& reason) {
  if (!wait_until_ended(kHangupWait)) kill(reason);
  return status();
}

void WorkerState::kill(const std::string& reason) {
  if (!is_of_this_process()) return;
  const std::lock_guard lock(mutex_);
  if (ending_) return;
  if (kill_reason_.empty()) kill_reason_ = reason;
  if (!is_dismissed_) has_failed_ = true;
  is_over_.store(true, std::memory_order_release);
  if (process_.is_open()) kill_process(process_);
}

void WorkerState::dismiss() {
  is_dismissed_ = true;
  hang_up(socket_);
}

bool WorkerState::wait_until_ended(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, longest, [this] { return ending_.has_value(); });
}

Result<std::unique_ptr<HostChannel>> WorkerState::take_channel() {
  if (!is_of_this_process() || !is_usable()) return status();
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<HostChannel> channel = std::move(free_.back());
      free_.pop_back();
      return channel;
    }
  }
  return open_channel();
}

Result<std::unique_ptr<HostChannel>> WorkerState::open_channel() {
  EPHOST_ASSIGN_OR_RETURN(SocketPair sockets, create_socket_pair());
  EPHOST_ASSIGN_OR_RETURN(
      SharedMemory page,
      SharedMemory::create("ephost-channel", sizeof(ChannelPage), SharedAccess::kReadWrite));
  EPHOST_ASSIGN_OR_RETURN(FileDescriptor sent, duplicate(page.region()->descriptor));
  Message message{"channel"};
  message.descriptors.push_back(std::move(sockets.worker));
  message.descriptors.push_back(std::move(sent));
  // Before the worker gets its end: making the page clears it, and with it what the worker had
  // written there, such as that it sleeps.
  auto channel = std::unique_ptr<HostChannel>(
      new HostChannel(shared_from_this(), std::move(sockets.host), std::move(page)));
  EPHOST_RETURN_IF_ERROR(send_channel(message));
  message.descriptors.clear();  // so that only the worker has its end
  EPHOST_RETURN_IF_ERROR(await_channel(channel->socket_));
  const std::lock_guard lock(mutex_);
  channels_.push_back(channel.get());
  return channel;
}

// Where the worker is slow to take channels, the call waits, and fails alone.
Status WorkerState::send_channel(const Message& message) {
  const std::lock_guard opening(opening_);
  if (!wait_until_writable(socket_, options_.start_limit)) return no_channel();
  const Status sent = send_packet(socket_, message, Waiting::kNo);
  return sent.code() == StatusCode::kEpFail ? failure_after_hangup(sent.message()) : sent;
}

Status WorkerState::await_channel(const FileDescriptor& socket) {
  if (!wait_until_readable(socket, options_.start_limit)) {
    const std::chrono::duration<double> limit = options_.start_limit;
    kill(formatted("it opened no channel in {} s", limit.count()));
    return status();
  }
  const Result<std::optional<Message>> message = receive_packet(socket, Waiting::kNo);
  const std::string answer = message.ok() && *message ? (*message)->bytes : std::string();
  if (answer == kChannelOpen) return Status::ok_status();
  // A worker that is about to end closes its sockets, too.
  if (answer == kChannelRefused || !wait_until_ended(kHangupWait)) return no_channel();
  return status();
}

Status WorkerState::no_channel() const {
  return Status(StatusCode::kFail,
                formatted("the worker of {} has no thread, memory or descriptors for one more call "
                          "at a time; session.isolation.memory, .open_files and .threads limit "
                          "them",
                          quote(options_.name)));
}

void WorkerState::give_back(std::unique_ptr<HostChannel> channel) {
  if (!is_of_this_process() || !is_usable()) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(channel));
}

void WorkerState::drop_free_channels() {
  std::vector<std::unique_ptr<HostChannel>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(free_);
  for (const auto& channel : dropped) std::erase(channels_, channel.get());
}

void WorkerState::forget(HostChannel* channel) {
  const std::lock_guard lock(mutex_);
  std::erase(channels_, channel);
}

}  // namespace ephost::worker
