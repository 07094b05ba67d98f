#include "host/worker/program/served_host.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/threads/thread_pool.h"
#include "host/plugin/calls/call.h"
#include "host/worker/program/call_state.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {
namespace {

using Clock = std::chrono::steady_clock;

// The host drops reports that come faster, and need not be asked more often.
constexpr auto kPause = std::chrono::milliseconds(1);

// With room for the rest of its post.
constexpr size_t kLongestLateLine = kMaxPostBytes - 64;

struct ThisCall {
  WorkerChannel* channel = nullptr;  // null: of a thread that serves no call, as the plugin's own
  Clock::time_point last_report;
  Clock::time_point last_question;
  std::string message;
  bool is_cancelled = false;
};
thread_local ThisCall this_call;

// The channels that are served, most of them outside of a call.
struct Channels {
  std::mutex mutex;  // never held while a thread waits for the host
  std::vector<std::shared_ptr<WorkerChannel>> all;
};

Channels& channels() {
  static auto* const served = new Channels;  // threads of the plugin may outlive main
  return *served;
}

std::vector<std::shared_ptr<WorkerChannel>> served_channels() {
  const std::lock_guard lock(channels().mutex);
  return channels().all;
}

// The code of the answer, by the channel of any call that lasts. Never waits for the callback of
// another thread: the host's thread that answers may wait for this thread, by a call that can be
// asked.
std::optional<int32_t> ask_by_any(const wire::Callback& callback) {
  const std::string bytes = callback.SerializeAsString();
  for (;;) {
    bool is_one_busy = false;
    for (const auto& channel : served_channels()) {
      const auto given = channel->try_to_call_back({bytes});
      if (!given) is_one_busy = true;
      wire::Answer answer;
      if (given && given->ok() && answer.ParseFromString((*given)->bytes)) return answer.code();
    }
    if (!is_one_busy) return std::nullopt;
    std::this_thread::sleep_for(kPause);
  }
}

// The code of the answer; nothing where no host can be asked.
std::optional<int32_t> ask_host(const wire::Callback& callback) {
  if (this_call.channel == nullptr) return ask_by_any(callback);
  const Result<wire::Answer> answer = ask(*this_call.channel, callback);
  if (!answer.ok()) return std::nullopt;
  return answer->code();
}

bool post_by_any(const std::string& bytes) {
  const auto served = served_channels();
  return std::any_of(served.begin(), served.end(),
                     [&](const auto& channel) { return channel->post({bytes}); });
}

// To what can be posted; UTF-8 stays so.
void shorten(std::string& line) {
  if (line.size() <= kLongestLateLine) return;
  size_t end = kLongestLateLine;
  while (end != 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80) --end;
  line.resize(end);
  line += "...";
}

// Lines that threads have logged which serve no call. A thread that serves a call may wait for such
// a thread, so that it never waits for the host; what cannot be posted is kept.
class LateLines {
 public:
  // Posts what can be posted now.
  void add(wire::Callback line) {
    const std::lock_guard lock(mutex_);
    if (lines_.size() == kMost) {
      ++dropped_;
    } else {
      lines_.push_back(std::move(line));
    }
    send_locked();
  }

  // Called by a thread that serves a call, at its beginning and its end.
  void send() noexcept {
    if (is_empty_.load(std::memory_order_acquire)) return;
    try {
      const std::lock_guard lock(mutex_);
      send_locked();
    } catch (const std::exception&) {  // the next time
    }
  }

 private:
  static constexpr size_t kMost = 1000;

  void send_locked() {
    while (!lines_.empty() && post_by_any(lines_.front().SerializeAsString())) lines_.pop_front();
    if (lines_.empty() && dropped_ != 0) {
      wire::Callback note;
      note.set_asked(wire::HOST_LOG);
      note.set_severity(EPH_LOG_WARNING);
      note.set_text(
          formatted("{} messages of threads of the plugin were dropped: more than {} had "
                    "to wait for a call of the host",
                    dropped_, kMost));
      if (post_by_any(note.SerializeAsString())) dropped_ = 0;
    }
    is_empty_.store(lines_.empty() && dropped_ == 0, std::memory_order_release);
  }

  std::mutex mutex_;
  std::deque<wire::Callback> lines_;
  size_t dropped_ = 0;
  std::atomic<bool> is_empty_{true};
};

LateLines& late_lines() {
  static auto* const lines = new LateLines;
  return *lines;
}

ThreadPool& pool() {
  static auto* const threads = new ThreadPool;
  return *threads;
}

// Ranges of a loop of the plugin. What one throws ends the loop's call.
class Loop {
 public:
  Loop(eph_range_function function, void* context) : function_(function), context_(context) {}
  void operator()(uint64_t begin, uint64_t end) const noexcept {
    try {
      function_(context_, begin, end);
    } catch (const std::exception& thrown) {
      note(thrown.what());
    } catch (...) {
      note("something that is not a std::exception");
    }
  }
  [[nodiscard]] std::string failure() const { return failure_; }

 private:
  void note(const char* what) const {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = what;
  }
  const eph_range_function function_;
  void* const context_;
  mutable std::mutex mutex_;
  mutable std::string failure_;
};

}  // namespace

ServedChannel::ServedChannel(WorkerChannel& channel) : channel_(channel) {
  const std::lock_guard lock(channels().mutex);
  channels().all.push_back(channel.shared_from_this());
}

ServedChannel::~ServedChannel() {
  const std::lock_guard lock(channels().mutex);
  std::erase_if(channels().all, [&](const auto& served) { return served.get() == &channel_; });
}

ActiveCall::ActiveCall(WorkerChannel& channel) {
  this_call = {};
  this_call.channel = &channel;
  late_lines().send();
}

ActiveCall::~ActiveCall() {
  this_call = {};
  late_lines().send();
}

ServedHost::ServedHost(std::string provider, const wire::Create& offer)
    : eph_host{nullptr},
      provider_(std::move(provider)),
      has_progress_(offer.has_progress()),
      has_constants_(offer.has_constants()),
      threads_(offer.threads()),
      library_threads_(offer.library_threads()) {
  static constexpr eph_host_api kApi = {sizeof(eph_host_api), &ServedHost::log,
                                        &ServedHost::get_extension};
  api = &kApi;
}

void ServedHost::log(const eph_host*, int32_t severity, eph_string message) noexcept {
  try {
    wire::Callback callback;
    callback.set_asked(wire::HOST_LOG);
    callback.set_severity(severity);
    callback.set_text(copy(message));
    if (this_call.channel == nullptr) {
      shorten(*callback.mutable_text());
      late_lines().add(std::move(callback));
    } else if (!this_call.channel->post({callback.SerializeAsString()})) {
      (void)ask_host(callback);
    }
  } catch (const std::exception&) {  // only this message is lost
  }
}

void ServedHost::report(const eph_host*, double fraction, eph_string message) noexcept {
  try {
    const auto now = Clock::now();
    const bool says_more = !view(message).empty() && view(message) != this_call.message;
    if (!says_more && fraction < 1 && now - this_call.last_report < kPause) return;
    this_call.last_report = now;
    if (says_more) this_call.message = copy(message);
    wire::Callback callback;
    callback.set_asked(wire::PROGRESS_REPORT);
    callback.set_fraction(fraction);
    callback.set_text(copy(message));
    const std::string bytes = callback.SerializeAsString();
    if (this_call.channel == nullptr) {
      (void)post_by_any(bytes);
    } else if (!this_call.channel->post({bytes})) {
      (void)ask_host(callback);
    }
  } catch (const std::exception&) {  // only this report is lost
  }
}

int32_t ServedHost::is_cancelled(const eph_host*) noexcept {
  try {
    WorkerChannel* const own = this_call.channel;
    if (own != nullptr && this_call.is_cancelled) return 1;
    const auto now = Clock::now();
    if (now - this_call.last_question < kPause) {
      return this_call.is_cancelled || (own != nullptr && own->is_cancelled()) ? 1 : 0;
    }
    this_call.last_question = now;
    wire::Callback callback;
    callback.set_asked(wire::PROGRESS_IS_CANCELLED);
    this_call.is_cancelled = ask_host(callback).value_or(0) != 0;
    return this_call.is_cancelled ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

void ServedHost::release(const eph_host*, const void* data, uint64_t size) noexcept {
  try {
    wire::Callback callback;
    callback.set_asked(wire::CONSTANTS_RELEASE);
    callback.set_size(size);
    if (find_constant(data, size, *callback.mutable_shared())) (void)ask_host(callback);
  } catch (const std::exception&) {  // the memory stays for longer
  }
}

void ServedHost::parallel_for(const eph_host* handle, uint64_t total, uint64_t grain,
                              eph_range_function function, void* context) noexcept {
  const ServedHost& host = self(handle);
  try {
    if (function == nullptr) {
      host.fail_loop("parallel_for of " + host.provider_ +
                     ": function is null; report this to the plugin's vendor");
      return;
    }
    const Loop loop(function, context);
    if (host.threads_ > 1) {
      pool().parallel_for(total, grain, host.threads_, loop);
    } else if (total != 0) {
      loop(0, total);
    }
    const std::string failure = loop.failure();
    if (!failure.empty()) {
      host.fail_loop("parallel_for of " + host.provider_ + ": its function threw " + failure +
                     "; report this to the plugin's vendor");
    }
  } catch (const std::exception& thrown) {
    host.fail_loop(thrown.what());
  }
}

void ServedHost::fail_loop(const std::string& failure) const {
  if (!plugin::fail_current_call(failure)) {
    log(this, EPH_LOG_ERROR, text_of(failure));
  }
}

uint32_t ServedHost::thread_count(const eph_host* handle) noexcept {
  return std::max(1U, self(handle).threads_);
}

uint32_t ServedHost::library_thread_count(const eph_host* handle) noexcept {
  return std::max(1U, self(handle).library_threads_);
}

const void* ServedHost::get_extension(const eph_host* handle, eph_string id) noexcept {
  static constexpr eph_progress_api kProgress = {sizeof(eph_progress_api), &ServedHost::report,
                                                 &ServedHost::is_cancelled};
  static constexpr eph_constants_api kConstants = {sizeof(eph_constants_api), &ServedHost::release};
  static constexpr eph_thread_pool_api kThreadPool = {
      sizeof(eph_thread_pool_api), &ServedHost::parallel_for, &ServedHost::thread_count,
      &ServedHost::library_thread_count};
  const ServedHost& host = self(handle);
  if (view(id) == EPH_EXT_PROGRESS) return host.has_progress_ ? &kProgress : nullptr;
  if (view(id) == EPH_EXT_THREAD_POOL) return host.threads_ != 0 ? &kThreadPool : nullptr;
  if (view(id) == EPH_EXT_CONSTANTS) return host.has_constants_ ? &kConstants : nullptr;
  return nullptr;
}

}  // namespace ephost::worker
