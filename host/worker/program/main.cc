// ephost-worker: loads one plugin for a host process and answers its calls. Started by the host
// alone (host/worker/process/worker_process.h).
#include <memory>

#include "host/plugin/calls/exit_guard.h"
#include "host/worker/process/crash_report.h"
#include "host/worker/process/worker_main.h"
#include "host/worker/program/served_plugin.h"

extern "C" {

// Exported, so that the loader binds the plugin to them: no handler would see these ends.
[[gnu::noreturn]] void _exit(int status) { ephost::plugin::end_process("_exit", status); }

[[gnu::noreturn]] void _Exit(int status) noexcept { ephost::plugin::end_process("_Exit", status); }

}  // extern "C"

int main() {
  ephost::worker::report_exits();
  // Never destroyed: threads of the plugin may outlive the end.
  static auto* const plugin = new ephost::worker::ServedPlugin;
  return ephost::worker::run_worker(
      [](ephost::worker::WorkerChannel& channel) { plugin->serve(channel); });
}
