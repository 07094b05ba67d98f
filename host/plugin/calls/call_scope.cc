#include "host/plugin/calls/call_scope.h"

#include <thread>
#include <utility>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/plugin/calls/call_watch.h"
#include "host/plugin/calls/crash_handler.h"

namespace ephost::plugin {
namespace {

// Signal handlers read both, so nothing may need initialisation at first use; the initial-exec
// model gives the thread-local one its place from the start, in a shared library too. The list only
// grows.
constinit std::atomic<ThreadCalls*> all_threads{nullptr};
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCalls* my_calls = nullptr;
constinit std::atomic<uint64_t> next_number{1};

}  // namespace

// Returns a thread's ThreadCalls for reuse when the thread ends.
struct ThreadCallsOwner {
  ThreadCallsOwner() = default;
  ThreadCallsOwner(const ThreadCallsOwner&) = delete;
  ThreadCallsOwner& operator=(const ThreadCallsOwner&) = delete;
  ~ThreadCallsOwner() {
    if (calls == nullptr) return;
    // A destructor that runs later and calls a plugin takes another one, which stays taken.
    my_calls = nullptr;
    calls->is_taken_.store(false, std::memory_order_release);
  }
  ThreadCalls* calls = nullptr;
  SignalStack stack;
};

ThreadCalls& ThreadCalls::take() {
  for (ThreadCalls* calls = first(); calls != nullptr; calls = calls->next()) {
    if (!calls->is_taken_.exchange(true, std::memory_order_acquire)) return *calls;
  }
  auto* const calls = new ThreadCalls;
  calls->next_ = all_threads.load(std::memory_order_relaxed);
  while (!all_threads.compare_exchange_weak(calls->next_, calls, std::memory_order_release)) {
  }
  return *calls;
}

ThreadCalls& ThreadCalls::mine() {
  if (my_calls == nullptr) {
    thread_local ThreadCallsOwner owner;
    my_calls = &take();
    owner.calls = my_calls;
    if (CrashHandler::is_installed()) owner.stack.set_up();
  }
  return *my_calls;
}

const ThreadCalls* ThreadCalls::mine_if_any() noexcept { return my_calls; }

ThreadCalls* ThreadCalls::first() noexcept { return all_threads.load(std::memory_order_acquire); }

void ThreadCalls::lock() noexcept {
  while (is_locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
}

ThreadCalls::Snapshot ThreadCalls::snapshot() const noexcept {
  const CallScope* const scope = innermost_.load(std::memory_order_acquire);
  if (scope == nullptr) return {};
  Snapshot taken = {scope->number_, std::nullopt, scope->site(), scope->log_};
  if (scope->steps_ != nullptr) taken.step = scope->step_.load(std::memory_order_relaxed);
  return taken;
}

LentPlace ThreadCalls::find_lent(uintptr_t address) const noexcept {
  for (const CallScope* scope = innermost_.load(std::memory_order_acquire); scope != nullptr;
       scope = scope->outer_) {
    if (scope->steps_ == nullptr) continue;
    const LentPlace place = scope->steps_->find_lent(address);
    if (!place.where.empty()) return place;
  }
  return {};
}

CallScope::CallScope(const CallSite& site, const StepSites* steps, size_t step)
    : thread_(ThreadCalls::mine()),
      outer_(thread_.innermost()),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      site_(site),
      steps_(steps),
      step_(step),
      log_(LogScope::current()),
      control_(FloatingPointControl::read()) {
  // Either a watch that is falling asleep sees this call, or this call sees that it sleeps.
  thread_.innermost_.exchange(this);
  if (is_call_watch_asleep()) wake_call_watch();
}

CallScope::~CallScope() {
  thread_.lock();
  thread_.innermost_.store(outer_, std::memory_order_relaxed);
  thread_.is_locked_.store(false, std::memory_order_release);
  if (FloatingPointControl::read() == control_) return;
  control_.restore();
  log_warning(
      describe(site()) +
      " changed the floating-point control of its thread, which the host has restored; report "
      "this to the plugin's vendor");
}

CallSite CallScope::site() const noexcept {
  return steps_ == nullptr ? site_ : steps_->call_site(step_.load(std::memory_order_relaxed));
}

void CallScope::fail(std::string reason) {
  if (failure_.empty()) failure_ = std::move(reason);
}

Status CallScope::status() const {
  if (failure_.empty()) return {};
  return Status(StatusCode::kEpFail, failure_);
}

bool fail_current_call(const std::string& reason) {
  CallScope* const scope = ThreadCalls::mine().innermost();
  if (scope != nullptr) scope->fail(reason);
  return scope != nullptr;
}

std::string describe(const CallSite& site) {
  std::string text = std::string(site.slot) + " of " + std::string(site.provider);
  if (!site.kind.empty()) text += " for " + std::string(site.kind);
  if (!site.name.empty()) text += " " + quote(site.name);
  return text;
}

}  // namespace ephost::plugin
