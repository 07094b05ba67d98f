#include "host/worker/program/served_host.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/thread_pool.h"
#include "host/plugin/calls/call.h"
#include "host/worker/program/call_state.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {
namespace {

using Clock = std::chrono::steady_clock;

// The host drops reports that come faster, and need not be asked more often.
constexpr auto kPause = std::chrono::milliseconds(1);

struct ThisCall {
  WorkerChannel* channel = nullptr;
  Clock::time_point last_report;
  Clock::time_point last_question;
  std::string message;
  bool is_cancelled = false;
};
thread_local ThisCall this_call;

// Of threads that serve no call, such as the plugin's own.
struct Calls {
  std::mutex mutex;
  std::vector<WorkerChannel*> active;
  std::vector<wire::Callback> late;
};
constexpr size_t kMostLate = 1000;

Calls& calls() {
  static auto* const all = new Calls;  // threads of the plugin may outlive main
  return *all;
}

// Uses the channel of this thread's call, or else that of any call that lasts: the first with which
// `use` succeeds.
template <class Use>
bool with_channel(Use use) {
  if (this_call.channel != nullptr) return use(*this_call.channel);
  Calls& all = calls();
  const std::lock_guard lock(all.mutex);
  return std::any_of(all.active.begin(), all.active.end(),
                     [&](WorkerChannel* channel) { return use(*channel); });
}

std::optional<wire::Answer> ask_host(const wire::Callback& callback) {
  std::optional<wire::Answer> answer;
  with_channel([&](WorkerChannel& channel) {
    Result<wire::Answer> given = ask(channel, callback);
    if (given.ok()) answer = std::move(*given);
    return answer.has_value();
  });
  return answer;
}

// Whether the host was told, without or with waiting for it.
bool tell_host(const wire::Callback& callback) {
  const std::string bytes = callback.SerializeAsString();
  return with_channel([&](WorkerChannel& channel) { return channel.post({bytes}); }) ||
         ask_host(callback).has_value();
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

ActiveCall::ActiveCall(WorkerChannel& channel) {
  this_call = {};
  this_call.channel = &channel;
  const std::lock_guard lock(calls().mutex);
  calls().active.push_back(&channel);
}

ActiveCall::~ActiveCall() {
  const std::lock_guard lock(calls().mutex);
  std::erase(calls().active, this_call.channel);
  this_call.channel = nullptr;
}

void take_late(wire::Answer& answer) {
  const std::lock_guard lock(calls().mutex);
  for (wire::Callback& late : calls().late) answer.add_late()->Swap(&late);
  calls().late.clear();
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
    if (tell_host(callback)) return;
    const std::lock_guard lock(calls().mutex);
    if (calls().late.size() < kMostLate) calls().late.push_back(std::move(callback));
  } catch (const std::exception&) {  // only this message is lost
  }
}

void ServedHost::report(const eph_host*, double fraction, eph_string message) noexcept {
  try {
    const auto now = Clock::now();
    const bool says_more = !view(message).empty() && view(message) != this_call.message;
    if (this_call.channel != nullptr && !says_more && fraction < 1 &&
        now - this_call.last_report < kPause) {
      return;
    }
    this_call.last_report = now;
    if (says_more) this_call.message = copy(message);
    wire::Callback callback;
    callback.set_asked(wire::PROGRESS_REPORT);
    callback.set_fraction(fraction);
    callback.set_text(copy(message));
    (void)tell_host(callback);
  } catch (const std::exception&) {  // only this report is lost
  }
}

int32_t ServedHost::is_cancelled(const eph_host*) noexcept {
  try {
    if (this_call.is_cancelled) return 1;
    const auto now = Clock::now();
    if (this_call.channel != nullptr && now - this_call.last_question < kPause) {
      return this_call.channel->is_cancelled() ? 1 : 0;
    }
    this_call.last_question = now;
    wire::Callback callback;
    callback.set_asked(wire::PROGRESS_IS_CANCELLED);
    const std::optional<wire::Answer> answer = ask_host(callback);
    const bool is_cancelled = answer && answer->code() != 0;
    if (this_call.channel != nullptr) this_call.is_cancelled = is_cancelled;
    return is_cancelled ? 1 : 0;
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
