// The plugin in this process, and the calls of the host that it answers. One plugin for a process.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>

#include "host/worker/protocol/messages.pb.h"
#include "host/worker/transport/worker_channel.h"

namespace ephost::worker {

class RunMemory;
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
  void serve_hot(WorkerChannel& channel, RunMemory& memory, uint32_t size);
  void serve_message(WorkerChannel& channel, RunMemory& memory, const Message& message);
  // Calls the plugin. A failure is that of the call, whatever the answer holds by then.
  Status answer_message(WorkerChannel& channel, RunMemory& memory, const Message& message,
                        wire::Answer& answer);

  std::unique_ptr<ServedCalls> calls_;
};

}  // namespace ephost::worker
