#include "host/worker/process/crash_report.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/exit_guard.h"
#include "host/plugin/calls/raw_text.h"

namespace ephost::worker {
namespace {

struct NamedSignal {
  int number;
  std::string_view name;
};
constexpr std::array<NamedSignal, 8> kReported = {{{SIGSEGV, "SIGSEGV"},
                                                   {SIGBUS, "SIGBUS"},
                                                   {SIGILL, "SIGILL"},
                                                   {SIGFPE, "SIGFPE"},
                                                   {SIGABRT, "SIGABRT"},
                                                   {SIGTRAP, "SIGTRAP"},
                                                   {SIGSYS, "SIGSYS"},
                                                   {SIGXCPU, "SIGXCPU"}}};
constexpr std::array<NamedSignal, 7> kOthers = {{{SIGKILL, "SIGKILL"},
                                                 {SIGTERM, "SIGTERM"},
                                                 {SIGINT, "SIGINT"},
                                                 {SIGHUP, "SIGHUP"},
                                                 {SIGPIPE, "SIGPIPE"},
                                                 {SIGALRM, "SIGALRM"},
                                                 {SIGXFSZ, "SIGXFSZ"}}};
constexpr size_t kShownFrames = 6;
constexpr int kFrames = 32;
constexpr size_t kMaxShown = 2000;
// Looking up symbols takes locks that the thread may hold already; then this ends the process.
constexpr unsigned kSecondsForFrames = 2;

CrashPage* crash_page = nullptr;
std::atomic<pid_t> reporter{0};  // the thread that has crashed first

std::string_view name_of(int signal) {
  const auto has_number = [signal](const NamedSignal& named) { return named.number == signal; };
  const auto* const found = std::find_if(kReported.begin(), kReported.end(), has_number);
  if (found != kReported.end()) return found->name;
  const auto* const other = std::find_if(kOthers.begin(), kOthers.end(), has_number);
  return other == kOthers.end() ? std::string_view() : other->name;
}

void publish(std::string_view text) {
  const std::string_view shown = text.substr(0, crash_page->text.size());
  std::memcpy(crash_page->text.data(), shown.data(), shown.size());
  crash_page->size.store(static_cast<uint32_t>(shown.size()), std::memory_order_release);
}

void add_call(plugin::RawText& text) {
  const plugin::ThreadCalls* const mine = plugin::ThreadCalls::mine_if_any();
  if (mine != nullptr && !mine->snapshot().site.provider.empty()) {
    text.add(" in ").add(mine->snapshot());
    return;
  }
  text.add(" in a thread of the plugin");
  for (plugin::ThreadCalls* calls = plugin::ThreadCalls::first(); calls != nullptr;
       calls = calls->next()) {
    bool is_found = false;
    calls->try_with_snapshot([&](const plugin::ThreadCalls::Snapshot& call) {
      is_found = !call.site.provider.empty();
      if (is_found) text.add(", during ").add(call);
    });
    if (is_found) return;
  }
}

const void* address_of_instruction(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  static_cast<void>(machine);
  return nullptr;
#endif
}

void add_frame(plugin::RawText& text, void* address) {
  Dl_info info = {};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    text.add("0x").add(reinterpret_cast<uintptr_t>(address), 16);
    return;
  }
  const std::string_view file = info.dli_fname;
  const size_t slash = file.rfind('/');
  const std::string_view base = slash == std::string_view::npos ? file : file.substr(slash + 1);
  const auto offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(info.dli_fbase);
  if (info.dli_sname != nullptr) text.add(info.dli_sname).add(" of ");
  text.add(base).add("+0x").add(offset, 16);
}

void add_frames(plugin::RawText& text, const void* context) {
  std::array<void*, kFrames> frames = {};
  const int count = ::backtrace(frames.data(), kFrames);
  void** const end = frames.data() + count;
  // The first ones are this handler's.
  void** first = std::find(frames.data(), end, address_of_instruction(context));
  if (first == end) first = std::min(frames.data() + 3, end);
  for (size_t i = 0; i < kShownFrames && first + i != end; ++i) {
    text.add(i == 0 ? "; innermost functions: " : ", ");
    add_frame(text, first[i]);
    publish(text.text());
  }
}

void end_by_default(int signal) {
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(signal, &by_default, nullptr);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

pid_t current_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

void end_with(int signal) {
  end_by_default(signal);
  ::syscall(SYS_tgkill, ::getpid(), current_thread(), signal);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const pid_t self = current_thread();
  pid_t first = 0;
  if (!reporter.compare_exchange_strong(first, self)) {
    if (first == self) return end_with(signal);  // the handler has crashed itself
    while (true) ::pause();                      // the other thread is about to end the process
  }
  plugin::RawText text;
  text.add(name_of(signal));
  if ((signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0) {
    text.add(" at address 0x").add(reinterpret_cast<uintptr_t>(info->si_addr), 16);
  }
  add_call(text);
  publish(text.text());
  end_by_default(SIGALRM);
  ::alarm(kSecondsForFrames);
  add_frames(text, context);
  end_with(signal);
}

}  // namespace

std::string signal_name(int signal) {
  const std::string_view name = name_of(signal);
  return name.empty() ? formatted("signal {}", signal) : std::string(name);
}

void report_crashes(CrashPage* page) {
  crash_page = page;
  void* warm_up = nullptr;
  ::backtrace(&warm_up, 1);  // loads what it needs, which a handler cannot
  for (const NamedSignal& signal : kReported) {
    struct sigaction action = {};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigfillset(&action.sa_mask);
    for (const NamedSignal& other : kReported) ::sigdelset(&action.sa_mask, other.number);
    ::sigaction(signal.number, &action, nullptr);
  }
}

void report_exits() {
  plugin::report_plugin_exits([](std::string_view text) noexcept {
    if (crash_page != nullptr) publish(text);
  });
}

std::string read_report(const CrashPage& page) {
  const size_t size = std::min<size_t>(page.size.load(std::memory_order_acquire), kMaxShown);
  std::string text(page.text.data(), std::min(size, page.text.size()));
  return printable_line(text);
}

}  // namespace ephost::worker
