#include "host/session/model/thread_use.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/log.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment_state.h"

namespace ephost::session {
namespace {

// A session that says how its threads behave has threads of its own.
std::shared_ptr<ThreadPool> pool_of(EnvironmentState& state, const SessionConfig& config) {
  const bool spins = config.allow_spinning.value_or(state.threading.allow_spinning);
  if (config.thread_affinities.empty() && spins == state.threading.allow_spinning) {
    return ThreadPool::borrow(state.threads);
  }
  ThreadPool::Options options{config.thread_affinities, spins};
  if (const std::string warning = drop_unusable_processors(options.affinities); !warning.empty()) {
    log_warning(warning);
  }
  return std::make_shared<ThreadPool>(&prepare_thread, std::move(options));
}

}  // namespace

ThreadUse thread_use(EnvironmentState& state, const SessionConfig& config) {
  const auto count = [](uint32_t wanted, uint32_t of_environment) {
    if (wanted != 0) return wanted;
    return of_environment != 0 ? of_environment : ThreadPool::default_thread_count();
  };
  ThreadUse threads;
  threads.pool = pool_of(state, config);
  threads.loops = count(config.intra_op_threads, state.threading.intra_op_num_threads);
  if (config.execution_mode == ExecutionMode::kParallel) {
    threads.steps = count(config.inter_op_threads, state.threading.inter_op_num_threads);
  }
  threads.libraries = std::max(threads.loops / threads.steps, 1U);
  return threads;
}

}  // namespace ephost::session
