// The plugin in this process, and the calls of the host that it answers. One plugin for a process.
#pragma once

#include <memory>

#include "host/worker/transport/worker_channel.h"

namespace ephost::worker {

class ServedCalls;

class ServedPlugin {
 public:
  ServedPlugin();
  ServedPlugin(const ServedPlugin&) = delete;
  ServedPlugin& operator=(const ServedPlugin&) = delete;
  ~ServedPlugin();

  // Serves one channel until the host closes it. By a thread of its own for each channel.
  void serve(WorkerChannel& channel);

 private:
  std::unique_ptr<ServedCalls> calls_;
};

}  // namespace ephost::worker
