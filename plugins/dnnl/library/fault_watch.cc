#include "plugins/dnnl/library/fault_watch.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

namespace ephost_dnnl {
namespace {

// What a watch shares with the handler, which may run in any thread of the library.
struct WatchedRange {
  std::atomic<bool> is_taken = false;
  std::atomic<uintptr_t> begin = 0, end = 0;
  std::atomic<uintptr_t> read = 0, written = 0;  // addresses; 0: none
};
std::array<WatchedRange, 64> watched_ranges;
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

std::mutex handler_mutex;  // guards the handler's coming and going
int watch_count = 0;
struct sigaction handler_before;
uintptr_t page_bytes = 0;

// Whether the processor says that the access was a write; without that knowledge, every access
// counts as one.
bool is_write(const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#else
  static_cast<void>(context);
  return true;
#endif
}

// Notes the access and opens its page. False if it is not watched.
bool note_fault(uintptr_t address, bool written) {
  for (WatchedRange& range : watched_ranges) {
    if (address < range.begin || address >= range.end) continue;
    uintptr_t none = 0;
    (written ? range.written : range.read).compare_exchange_strong(none, address);
    void* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
    return mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0;
  }
  return false;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = handler_before;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {  // the access fails again, and ends the process as it would have done
    sigaction(signal, &before, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const bool is_fault = info->si_code > 0;  // not sent by a process
  if (is_fault && note_fault(address, is_write(context))) return;
  pass_on(signal, info, context);
}

void enter_handler() {
  const std::lock_guard lock(handler_mutex);
  if (watch_count++ > 0) return;
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction own = {};
  own.sa_sigaction = &on_fault;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&own.sa_mask);
  sigaction(SIGSEGV, &own, &handler_before);
}

void leave_handler() {
  const std::lock_guard lock(handler_mutex);
  if (--watch_count > 0) return;
  struct sigaction current = {};
  sigaction(SIGSEGV, nullptr, &current);
  // A handler that was set by other code meanwhile stays; it knows this one as its predecessor.
  if (current.sa_sigaction == &on_fault) sigaction(SIGSEGV, &handler_before, nullptr);
}

std::size_t take_slot() {
  for (;;) {
    for (std::size_t i = 0; i < watched_ranges.size(); ++i) {
      if (!watched_ranges[i].is_taken.exchange(true)) return i;
    }
    std::this_thread::yield();
  }
}

}  // namespace

FaultWatch::FaultWatch(const void* begin, std::size_t size) : slot_(take_slot()) {
  WatchedRange& range = watched_ranges[slot_];
  range.read = range.written = 0;
  range.end = reinterpret_cast<uintptr_t>(begin) + size;
  range.begin = reinterpret_cast<uintptr_t>(begin);
  enter_handler();
}

FaultWatch::~FaultWatch() {
  leave_handler();
  WatchedRange& range = watched_ranges[slot_];
  range.begin = range.end = 0;
  range.is_taken = false;
}

std::optional<Fault> FaultWatch::fault() const {
  const WatchedRange& range = watched_ranges[slot_];
  if (range.written != 0) return Fault{range.written, true};
  if (range.read != 0) return Fault{range.read, false};
  return std::nullopt;
}

}  // namespace ephost_dnnl
