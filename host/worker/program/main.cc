// ephost-worker: loads one plugin for a host process and answers its calls. Started by the host
// alone (host/worker/process/worker_process.h).
#include <memory>

#include "host/worker/process/worker_main.h"
#include "host/worker/program/served_plugin.h"

int main() {
  // Never destroyed: threads of the plugin may outlive the end.
  static auto* const plugin = new ephost::worker::ServedPlugin;
  return ephost::worker::run_worker(
      [](ephost::worker::WorkerChannel& channel) { plugin->serve(channel); });
}
