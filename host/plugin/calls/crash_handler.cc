#include "host/plugin/calls/crash_handler.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <string_view>

#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/crash_records.h"
#include "host/plugin/calls/fault_place.h"
#include "host/plugin/calls/raw_text.h"

namespace ephost::plugin {
namespace {

struct HandledSignal {
  int number;
  std::string_view name;
};
constexpr std::array<HandledSignal, 5> kSignals = {{{SIGSEGV, "SIGSEGV"},
                                                    {SIGBUS, "SIGBUS"},
                                                    {SIGILL, "SIGILL"},
                                                    {SIGFPE, "SIGFPE"},
                                                    {SIGABRT, "SIGABRT"}}};

// Large enough for other handlers too, some of which unwind the stack and look up symbols.
constexpr size_t kStackSize = size_t{128} * 1024;

// The previous handlers, by index in kSignals. Kept after uninstalling: handlers that were
// installed later may still pass signals on to ours.
std::array<struct sigaction, kSignals.size()> previous_actions;
std::mutex users_mutex;
std::atomic<int> users{0};
std::atomic<uint64_t> last_reported{0};

size_t index_of(int signal) {
  size_t index = 0;
  while (index + 1 < kSignals.size() && kSignals[index].number != signal) ++index;
  return index;
}

// Whether an instruction of this thread caused the signal and would cause it again.
bool is_fault(int signal, const siginfo_t& info) { return signal != SIGABRT && info.si_code > 0; }

// The place of a fault in memory; nothing known of any other signal.
FaultPlace place_of(int signal, const siginfo_t& info, const void* context) {
  if (!is_fault(signal, info) || signal == SIGILL || signal == SIGFPE) return {};
  return find_fault_place(info, context);
}

struct Crash {
  int signal;
  const siginfo_t& info;
  FaultPlace place;
};

// "error[EP_FAIL]: SIGSEGV at address 0x1234, which is behind output 0 of ...,".
void add_signal(RawText& text, const Crash& crash) {
  text.add("error[EP_FAIL]: ").add(kSignals[index_of(crash.signal)].name);
  if (!is_fault(crash.signal, crash.info) || crash.signal == SIGILL || crash.signal == SIGFPE) {
    return;
  }
  text.add(" at address 0x").add(crash.place.address, 16);
  if (crash.place.where.empty()) return;
  text.add(", which is ").add(crash.place.where);
  if (!crash.place.name.empty()) text.add(" \"").add(crash.place.name).add("\"");
  text.add(",");
}

void add_remedy(RawText& text, const Crash& crash) {
  text.add(crash.place.is_applications
               ? "; the memory is the application's: keep it, and the file behind it, as they are "
                 "for as long as they are used; this does not count against the plugin"
               : "; report this to the plugin's vendor");
}

// Whether this process sent the signal to itself, by an instruction or with abort.
bool is_own(int signal, const siginfo_t& info) {
  return is_fault(signal, info) || (info.si_code <= 0 && info.si_pid == ::getpid());
}

// A crash in one call is reported only once, although the next handler may abort and so signal
// again.
bool report_call(std::string_view where, const Crash& crash, const ThreadCalls::Snapshot& call) {
  if (call.site.provider.empty()) return false;
  if (last_reported.exchange(call.number) == call.number) return true;
  RawText text;
  add_signal(text, crash);
  text.add(where).add(call);
  add_remedy(text, crash);
  text.write_line();
  return true;
}

// A crash in another thread may be the application's, and is not recorded.
void record(int signal, const ThreadCalls::Snapshot& call) {
  RawText text;
  text.add("died of ").add(kSignals[index_of(signal)].name).add(" in ").add(call);
  record_crash(call.site, text.text());
}

// Where no plugin is called: a thread of one may still reach what its call was lent.
void report_place(const Crash& crash) {
  if (crash.place.where.empty()) return;
  RawText text;
  add_signal(text, crash);
  text.add(" while no plugin is called");
  add_remedy(text, crash);
  text.write_line();
}

void report(const Crash& crash) {
  const ThreadCalls* const mine = ThreadCalls::mine_if_any();
  if (mine != nullptr) {
    const ThreadCalls::Snapshot call = mine->snapshot();
    const bool is_first = call.number != last_reported.load();
    if (report_call(" in ", crash, call)) {
      const bool counts = !crash.place.is_applications && is_own(crash.signal, crash.info);
      if (is_first && counts) record(crash.signal, call);
      return;
    }
  }
  bool is_reported = false;
  for (ThreadCalls* calls = ThreadCalls::first(); calls != nullptr; calls = calls->next()) {
    calls->try_with_snapshot([&](const ThreadCalls::Snapshot& call) {
      if (report_call(" in a thread that calls no plugin, during ", crash, call)) {
        is_reported = true;
      }
    });
  }
  if (!is_reported) report_place(crash);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  struct sigaction& previous = previous_actions[index_of(signal)];
  const struct sigaction action = previous;
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    previous = {};
    previous.sa_handler = SIG_DFL;
  }
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(signal, info, context);
  if (action.sa_handler == SIG_IGN && !is_fault(signal, *info)) return;
  if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
    return action.sa_handler(signal);
  }
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(signal, &by_default, nullptr);
  // When this returns, the fault recurs, with the state that a core dump should show.
  if (is_fault(signal, *info)) return;
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, info);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  report({signal, *info, place_of(signal, *info, context)});
  pass_on(signal, info, context);
  errno = saved_errno;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_signal;
}

void install() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction previous = {};
    if (::sigaction(kSignals[i].number, nullptr, &previous) != 0 || is_ours(previous)) continue;
    previous_actions[i] = previous;
    struct sigaction action = previous;  // with its mask
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous.sa_flags & (SA_NODEFER | SA_RESTART));
    ::sigaction(kSignals[i].number, &action, nullptr);
  }
}

void uninstall() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction current = {};
    if (::sigaction(kSignals[i].number, nullptr, &current) != 0 || !is_ours(current)) continue;
    ::sigaction(kSignals[i].number, &previous_actions[i], nullptr);
  }
}

}  // namespace

CrashHandler::CrashHandler() {
  const std::lock_guard lock(users_mutex);
  if (users.fetch_add(1) == 0) install();
}

CrashHandler::~CrashHandler() {
  const std::lock_guard lock(users_mutex);
  if (users.fetch_sub(1) == 1) uninstall();
}

bool CrashHandler::is_installed() noexcept { return users.load(std::memory_order_relaxed) != 0; }

void SignalStack::set_up() {
  stack_t current = {};
  if (memory_ != nullptr || ::sigaltstack(nullptr, &current) != 0) return;
  if ((current.ss_flags & SS_DISABLE) == 0) return;
  const size_t size = std::max(kStackSize, static_cast<size_t>(::sysconf(_SC_SIGSTKSZ)));
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = size};
  if (::sigaltstack(&stack, nullptr) != 0) {
    ::munmap(memory, size);
    return;
  }
  memory_ = memory;
  size_ = size;
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t current = {};
  if (::sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory_) {
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (::sigaltstack(&none, nullptr) != 0) return;  // in use: a handler is ending the thread
  }
  ::munmap(memory_, size_);
}

}  // namespace ephost::plugin
