// An object that a plugin borrows from the host during a call: until when, and for which thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "host/layers/validate/finding.h"

namespace ephost::layers {

// The threads that may call the functions of an object of the host.
enum class Callers {
  kThreadOfTheCall,  // marked [owner]
  kAnyThread         // marked [any]
};

// The loan of one object that the plugin was given in a call.
class Loan {
 public:
  // Before the call. `log` outlives the loan.
  void begin(FindingLog& log, Subject subject);
  // After it: any further use of the object breaks rule 20.
  void end() noexcept;
  // Whether the plugin may call `function` of the object, which the ABI's headers call `object`;
  // reports it if not. Always true before `begin`.
  [[nodiscard]] bool allows(std::string_view object, std::string_view function,
                            Callers callers) noexcept;

 private:
  FindingLog* log_ = nullptr;
  Subject subject_;
  std::thread::id thread_;
  std::atomic<bool> has_ended_{false};
};

// While it lives, the thread runs the body of a plugin's loop.
class LoopBody {
 public:
  LoopBody();
  LoopBody(const LoopBody&) = delete;
  LoopBody& operator=(const LoopBody&) = delete;
  ~LoopBody();
};

// While it lives, the thread runs a function of the host that can fail: messages are the host's.
class HostCall {
 public:
  HostCall();
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  ~HostCall();
  // For the calling thread.
  [[nodiscard]] static bool is_running() noexcept;
};

// While it lives, the thread runs a call of the plugin, whatever it ran before.
class PluginCall {
 public:
  PluginCall();
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;
  ~PluginCall();

 private:
  const int outer_loops_;
  const int outer_host_calls_;
};

// Keeps what was lent after its time, so that late uses are seen, until there is too much of it:
// then the oldest goes first. May be used by any thread.
class Quarantine {
 public:
  Quarantine() = default;
  Quarantine(const Quarantine&) = delete;
  Quarantine& operator=(const Quarantine&) = delete;
  ~Quarantine() { clear(); }

  // `bytes` is what it occupies; `inspect`, which may be empty, is called right before it goes.
  void keep(std::shared_ptr<const void> what, size_t bytes, std::function<void()> inspect = {});
  // Inspects everything that was not inspected yet, and keeps it.
  void inspect();
  // Lets everything go.
  void clear();

 private:
  struct Kept {
    std::shared_ptr<const void> what;
    size_t bytes = 0;
    std::function<void()> inspect;
  };
  std::mutex mutex_;
  std::deque<Kept> kept_;
  size_t bytes_ = 0;
};

}  // namespace ephost::layers
