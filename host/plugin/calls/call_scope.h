// A record of the plugin function that a thread is calling, for error messages, for the crash
// handler (host/plugin/calls/crash_handler.h), and for the watch on long calls
// (host/plugin/calls/call_watch.h). A scope costs some nanoseconds; a run has one for all its steps
// and stores a number for each step.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ephost/status.h"
#include "host/base/log.h"
#include "host/plugin/calls/floating_point.h"

namespace ephost::plugin {

// One call of one slot. Everything is borrowed, and stays as it is while the call lasts.
struct CallSite {
  std::string_view provider;  // empty: no plugin is running
  std::string_view slot;      // as the ABI's headers name it
  // What the call is about, e.g. "Conv" and "conv1"; both may be empty.
  std::string_view kind = {};
  std::string_view name = {};
};

// Memory that the application lent to a run.
struct LentPlace {
  std::string_view where;  // "in the input"; empty: the run was not lent it
  std::string_view name;   // of the value
  bool is_writable = false;
};

// Tells which slot each step of a run calls. Used by signal handlers and other threads during the
// run: it allocates nothing, takes no lock, and reads only what does not change during the run.
class StepSites {
 public:
  [[nodiscard]] virtual CallSite call_site(size_t step) const noexcept = 0;
  // Which value that the run was lent has the address.
  [[nodiscard]] virtual LentPlace find_lent(uintptr_t /*address*/) const noexcept { return {}; }

 protected:
  ~StepSites() = default;
};

class CallScope;

// The calls of one thread. Lives as long as the process and is reused by later threads.
class ThreadCalls {
 public:
  struct Snapshot {
    uint64_t number = 0;         // of the scope, from 1; 0: the thread is outside of any scope
    std::optional<size_t> step;  // the current step, within a run
    CallSite site;
    const Log* log = nullptr;  // of the call's thread when the call began; null: the process's
  };

  // The object of the calling thread, made at its first call. The second form is for signal
  // handlers and returns null before that.
  [[nodiscard]] static ThreadCalls& mine();
  [[nodiscard]] static const ThreadCalls* mine_if_any() noexcept;
  // A list of those of all threads.
  [[nodiscard]] static ThreadCalls* first() noexcept;
  [[nodiscard]] ThreadCalls* next() const noexcept { return next_; }

  // The innermost call. Only for the calling thread's own object.
  [[nodiscard]] Snapshot snapshot() const noexcept;
  // As StepSites::find_lent, of all runs that the thread is in. Only for the calling thread's own
  // object, or within `try_with_snapshot`.
  [[nodiscard]] LentPlace find_lent(uintptr_t address) const noexcept;
  // Calls `use(Snapshot)` with the innermost call of any thread. That call cannot return meanwhile,
  // so `use` must be quick. False if the thread is busy; then signal handlers give up and others
  // retry.
  template <class Use>
  bool try_with_snapshot(Use use) {
    if (is_locked_.exchange(true, std::memory_order_acquire)) return false;
    use(snapshot());
    is_locked_.store(false, std::memory_order_release);
    return true;
  }

  // The innermost scope of the calling thread, or null.
  [[nodiscard]] CallScope* innermost() const noexcept {
    return innermost_.load(std::memory_order_relaxed);
  }

 private:
  friend class CallScope;
  friend struct ThreadCallsOwner;
  ThreadCalls() = default;
  [[nodiscard]] static ThreadCalls& take();
  void lock() noexcept;

  std::atomic<CallScope*> innermost_{nullptr};
  std::atomic<bool> is_locked_{false};  // a scope that is read does not end
  std::atomic<bool> is_taken_{true};    // by a living thread
  ThreadCalls* next_ = nullptr;
};

// On the stack, around a call or the steps of a run. Scopes of a thread are nested.
class CallScope {
 public:
  explicit CallScope(const CallSite& site) : CallScope(site, nullptr, 0) {}
  explicit CallScope(const StepSites& steps, size_t step = 0) : CallScope({}, &steps, step) {}
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  ~CallScope();

  void begin_step(size_t step) noexcept { step_.store(step, std::memory_order_relaxed); }

  [[nodiscard]] CallSite site() const noexcept;

  // Makes the call fail when it returns, whatever it returns: for what went wrong in functions of
  // the plugin that the host called on its behalf. The first reason counts. Only by the thread that
  // the scope belongs to.
  void fail(std::string reason);
  // OK, or EP_FAIL with that reason.
  [[nodiscard]] Status status() const;

 private:
  friend class ThreadCalls;
  CallScope(const CallSite& site, const StepSites* steps, size_t step);

  ThreadCalls& thread_;
  CallScope* const outer_;
  const uint64_t number_;
  const CallSite site_;
  const StepSites* const steps_;  // null: site_ says it
  std::atomic<size_t> step_;
  const Log* const log_;
  const FloatingPointControl control_;
  std::string failure_;
};

// Makes the innermost call of this thread fail (CallScope::fail); false where there is none.
bool fail_current_call(const std::string& reason);

// "create of AcmeExecutionProvider", "compute of AcmeExecutionProvider for Conv "conv1"".
[[nodiscard]] std::string describe(const CallSite& site);

}  // namespace ephost::plugin
