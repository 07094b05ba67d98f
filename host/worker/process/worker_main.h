// The worker's side of a process: what the program ephost-worker does before and around serving.
#pragma once

#include <functional>

#include "host/worker/transport/worker_channel.h"

namespace ephost::worker {

// Serves one channel until it is closed; called by a thread of its own for each channel.
using ServeChannel = std::function<void(WorkerChannel&)>;

// Takes the socket from WorkerProcess, applies limits and sandbox, installs the crash handler,
// tells the host that it is ready, and serves channels until the host closes the socket or is gone.
// Then calls `at_end`, which may be null, after which the process should exit: it does not wait for
// threads that still serve a channel. Returns the status to exit with.
//
// The caller has no other threads when it calls this, and has not touched the descriptor
// kMainSocket.
[[nodiscard]] int run_worker(const ServeChannel& serve, const std::function<void()>& at_end = {});

inline constexpr int kMainSocket = 3;

}  // namespace ephost::worker
