#include "host/layers/validate/lent/loan.h"

#include <utility>
#include <vector>

#include "host/base/format.h"

namespace ephost::layers {
namespace {

constexpr size_t kMaxKept = 1024;
constexpr size_t kMaxKeptBytes = size_t{64} << 20;

// How many bodies of loops the thread is in.
thread_local int loop_depth = 0;
// And how many functions of the host, since the plugin was called.
thread_local int host_depth = 0;

}  // namespace

LoopBody::LoopBody() { ++loop_depth; }
LoopBody::~LoopBody() { --loop_depth; }

HostCall::HostCall() { ++host_depth; }
HostCall::~HostCall() { --host_depth; }
bool HostCall::is_running() noexcept { return host_depth != 0; }

PluginCall::PluginCall()
    : outer_loops_(std::exchange(loop_depth, 0)), outer_host_calls_(std::exchange(host_depth, 0)) {}
PluginCall::~PluginCall() {
  loop_depth = outer_loops_;
  host_depth = outer_host_calls_;
}

void Loan::begin(FindingLog& log, Subject subject) {
  log_ = &log;
  subject_ = std::move(subject);
  thread_ = std::this_thread::get_id();
}

void Loan::end() noexcept { has_ended_ = true; }

bool Loan::allows(std::string_view object, std::string_view function, Callers callers) noexcept {
  if (log_ == nullptr) return true;
  try {
    if (has_ended_) {
      log_->add_to_call(
          subject_,
          {20, formatted("used the {} of a call that had returned: it called {}", object, function),
           "copy what is needed for longer, and forget the object"});
      return false;
    }
    if (callers == Callers::kAnyThread) return true;
    if (loop_depth != 0) {
      log_->add_to_call(
          subject_, {36, formatted("called {} of the {} in the body of a loop", function, object),
                     "call it before or after the loop; bodies may call what is marked [any]"});
      return false;
    }
    if (std::this_thread::get_id() == thread_) return true;
    log_->add_to_call(
        subject_,
        {22,
         formatted("called {} of the {} on another thread than that of the call", function, object),
         "let its own threads call only what is marked [any]"});
  } catch (...) {  // out of memory: the finding is lost
  }
  return false;
}

void Quarantine::keep(std::shared_ptr<const void> what, size_t bytes,
                      std::function<void()> inspect) {
  std::vector<Kept> gone;
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back({std::move(what), bytes, std::move(inspect)});
    bytes_ += bytes;
    while (kept_.size() > kMaxKept || (bytes_ > kMaxKeptBytes && kept_.size() > 1)) {
      bytes_ -= kept_.front().bytes;
      gone.push_back(std::move(kept_.front()));
      kept_.pop_front();
    }
  }
  for (const Kept& kept : gone) {
    if (kept.inspect) kept.inspect();
  }
}

void Quarantine::inspect() {
  const std::lock_guard lock(mutex_);
  for (Kept& kept : kept_) {
    if (const auto look = std::exchange(kept.inspect, {})) look();
  }
}

void Quarantine::clear() {
  std::deque<Kept> gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(kept_);
    bytes_ = 0;
  }
  for (const Kept& kept : gone) {
    if (kept.inspect) kept.inspect();
  }
}

}  // namespace ephost::layers
