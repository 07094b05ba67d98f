// The report that a worker leaves when it dies of a signal, or its plugin ends it: one line in
// memory that the host reads afterwards.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ephost::worker {

// Shared by the host and the worker; the worker may write anything into it at any time.
struct CrashPage {
  std::atomic<uint32_t> size;
  std::array<char, 4092> text;
};

// In the worker: from now on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS and SIGXCPU
// leave a report of signal, address, the current call of the plugin and the innermost functions,
// then end the process as they would without. `page` is borrowed for the life of the process.
void report_crashes(CrashPage* page);

// In the worker: from now on, a plugin that ends the process or the thread that has called it
// leaves a report of that, as long as crashes are reported too (plugin/calls/exit_guard.h).
void report_exits();

// In the host: the report, made printable and bounded; empty if there is none.
[[nodiscard]] std::string read_report(const CrashPage& page);

// "SIGSEGV", or "signal 42".
[[nodiscard]] std::string signal_name(int signal);

}  // namespace ephost::worker
