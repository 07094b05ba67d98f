// The threads that a session uses: how many, and whose.
#pragma once

#include <cstdint>
#include <memory>

#include "host/base/threads/thread_pool.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

struct SessionConfig;

// How many threads the runs of a session use (SessionOptions).
struct ThreadUse {
  std::shared_ptr<ThreadPool> pool;  // the environment's, which is not owned, or the session's
  uint32_t steps = 1;                // threads that run the steps of one run
  uint32_t loops = 1;                // threads of the pool that run one parallel loop of a step
  uint32_t libraries = 1;            // threads that a library may start itself for one step
};

// What the options of a session and the environment ask for.
[[nodiscard]] ThreadUse thread_use(EnvironmentState& state, const SessionConfig& config);

}  // namespace ephost::session
