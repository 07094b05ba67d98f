#include "host/plugin/calls/call_watch.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/base/threads/signals.h"
#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constinit std::atomic<bool> is_asleep{false};

// A call as the watch first saw it. Its start is unknown, because a CallScope does not read the
// clock.
struct SeenCall {
  const ThreadCalls* thread = nullptr;
  uint64_t number = 0;
  std::optional<size_t> step;
  Clock::time_point since;
  milliseconds warned_after{};  // 0: there was no warning yet
};

// More threads than usually call plugins. With still more, the watch allocates memory while it
// looks, which tests that count allocations would see.
constexpr size_t kUsualThreads = 1024;
using SeenCalls = std::vector<SeenCall>;

SeenCall& seen_call_of(const ThreadCalls* thread, SeenCalls& seen) {
  const auto found = std::ranges::find(seen, thread, &SeenCall::thread);
  return found != seen.end() ? *found : seen.emplace_back(SeenCall{thread, 0, {}, {}, {}});
}

std::string seconds_text(milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", static_cast<double>(time.count()) / 1000);
  return text;
}

class Watch {
 public:
  void add(milliseconds limit) {
    const std::lock_guard lock(mutex_);
    limits_.insert(limit);
    if (!thread_.joinable()) is_asleep = true;
    changed_.notify_one();
  }

  void remove(milliseconds limit) {
    std::thread ended;
    {
      const std::lock_guard lock(mutex_);
      limits_.erase(limits_.find(limit));
      if (!limits_.empty()) return;
      is_asleep = false;
      ended = std::move(thread_);
      changed_.notify_one();
    }
    if (ended.joinable()) ended.join();
  }

  void wake() noexcept {
    const std::lock_guard lock(mutex_);
    if (limits_.empty() || !is_asleep) return;
    is_asleep = false;
    if (!thread_.joinable()) start();
    changed_.notify_one();
  }

 private:
  void start() noexcept {
    const SignalsBlocked blocked;
    try {
      // Here and not in the thread, which may start late: tests that count allocations would see
      // it.
      SeenCalls seen;
      seen.reserve(kUsualThreads);
      thread_ = std::thread([this, seen = std::move(seen)]() mutable { work(seen); });
    } catch (const std::exception&) {  // then there are no warnings
    }
  }

  void work(SeenCalls& seen) {
    const std::thread::id me = std::this_thread::get_id();
    std::unique_lock lock(mutex_);
    while (thread_.get_id() == me && !limits_.empty()) {
      const milliseconds limit = *limits_.begin();
      lock.unlock();
      bool has_calls = look(limit, seen);
      if (!has_calls) {
        // A call that begins now either sees this or is seen.
        is_asleep = true;
        has_calls = look(limit, seen);
      }
      lock.lock();
      if (has_calls) {
        is_asleep = false;
        changed_.wait_for(lock, std::clamp(limit / 4, milliseconds(10), milliseconds(1000)));
      } else {
        changed_.wait(lock, [&] { return !is_asleep || thread_.get_id() != me; });
      }
    }
  }

  // Warns about overdue calls. Returns whether any call is running.
  static bool look(milliseconds limit, SeenCalls& seen) {
    bool has_calls = false;
    for (ThreadCalls* calls = ThreadCalls::first(); calls != nullptr; calls = calls->next()) {
      std::string warning;
      Log log;
      const bool is_seen = calls->try_with_snapshot([&](const ThreadCalls::Snapshot& call) {
        has_calls = has_calls || call.number != 0;
        warning = find_warning(seen_call_of(calls, seen), call, limit);
        if (!warning.empty() && call.log != nullptr) log = *call.log;
      });
      has_calls = has_calls || !is_seen;
      if (warning.empty()) continue;
      const LogScope scope(log);
      log_warning(warning);
    }
    return has_calls;
  }

  static std::string find_warning(SeenCall& seen, const ThreadCalls::Snapshot& call,
                                  milliseconds limit) {
    const auto now = Clock::now();
    if (seen.number != call.number || seen.step != call.step) {
      seen = {seen.thread, call.number, call.step, now, {}};
      return {};
    }
    // The limit may have become shorter since the call was first seen.
    const bool is_first = seen.warned_after.count() == 0;
    const milliseconds due = is_first ? limit : 2 * seen.warned_after;
    if (call.site.provider.empty() || now - seen.since < due) return {};
    seen.warned_after = due;
    while (now - seen.since >= 2 * seen.warned_after) seen.warned_after *= 2;
    return describe(call.site) + " has been running for more than " + seconds_text(due);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<milliseconds> limits_;
  std::thread thread_;
};

Watch& watch() {
  // Never destroyed: there may still be calls while static objects are being destroyed.
  static auto* const instance = new Watch;
  return *instance;
}

}  // namespace

CallWatch::CallWatch(milliseconds limit) : limit_(limit) { watch().add(limit); }
CallWatch::~CallWatch() { watch().remove(limit_); }

bool is_call_watch_asleep() noexcept { return is_asleep.load(); }

void wake_call_watch() noexcept { watch().wake(); }

}  // namespace ephost::plugin
