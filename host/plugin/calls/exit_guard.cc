#include "host/plugin/calls/exit_guard.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/crash_records.h"
#include "host/plugin/calls/raw_text.h"

namespace ephost::plugin {
namespace {

std::atomic<pid_t> guarded_process{0};
std::atomic<int> failure{EXIT_FAILURE};
std::atomic<ExitReport> exit_report{nullptr};  // null: standard error

bool is_guarded() { return guarded_process.load() == ::getpid(); }

[[noreturn]] void end_now(int status) {
  for (;;) ::syscall(SYS_exit_group, status);
}

// Whether this ends a call of a plugin; if so, it has been reported.
bool report(std::string_view function, const int* status, const ThreadCalls::Snapshot& call) {
  if (call.site.provider.empty()) return false;
  RawText what;
  what.add("called ").add(function).add("(");
  if (status != nullptr) what.add(static_cast<uint64_t>(*status & 0xff));
  what.add(") in ").add(call);
  record_crash(call.site, what.text());
  const ExitReport watcher = exit_report.load();
  RawText text;
  if (watcher == nullptr) text.add("error[EP_FAIL]: ");
  text.add("the plugin ").add(what.text());
  text.add(", which no plugin may do; report this to the plugin's vendor");
  if (watcher == nullptr) {
    text.write_line();
  } else {
    watcher(text.text());
  }
  return true;
}

// Looks at the calling thread's own call or, for threads that a plugin started, at those of the
// others.
bool report_any(std::string_view function, const int* status) {
  const ThreadCalls* const mine = ThreadCalls::mine_if_any();
  if (mine != nullptr && report(function, status, mine->snapshot())) return true;
  bool is_reported = false;
  for (ThreadCalls* calls = ThreadCalls::first(); calls != nullptr && !is_reported;
       calls = calls->next()) {
    calls->try_with_snapshot(
        [&](const ThreadCalls::Snapshot& call) { is_reported = report(function, status, call); });
  }
  return is_reported;
}

void fail_if_called_by_plugin(const char* function, const int* status) {
  if (!is_guarded() || !report_any(function, status)) return;
  const bool keeps_status = exit_report.load() != nullptr;
  if (keeps_status && status == nullptr) return;  // quick_exit continues with it
  if (::ftrylockfile(stdout) == 0) {              // earlier output is kept
    ::fflush_unlocked(stdout);
    ::funlockfile(stdout);
  }
  end_now(keeps_status ? *status : failure.load());
}

void arm() {
  if (guarded_process.exchange(::getpid()) != 0) return;
  ::on_exit([](int status, void*) { fail_if_called_by_plugin("exit", &status); }, nullptr);
  std::at_quick_exit([] { fail_if_called_by_plugin("quick_exit", nullptr); });
}

}  // namespace

void arm_exit_guard(int failure_status) {
  failure = failure_status;
  arm();
}

void report_plugin_exits(ExitReport report) {
  exit_report = report;
  arm();
}

void end_process(const char* function, int status) noexcept {
  fail_if_called_by_plugin(function, &status);
  end_now(status);
}

void guard_thread_end(const CallSite& /*site*/) noexcept {
  fail_if_called_by_plugin("pthread_exit", nullptr);
  if (is_guarded() && exit_report.load() != nullptr) end_now(failure.load());
}

}  // namespace ephost::plugin
