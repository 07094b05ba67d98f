#include "host/session/creation/beginning.h"

#include <memory>

#include "host/session/config/cancellation.h"

namespace ephost::session {

PreparedModel begin_model(const EnvironmentState& environment, const SessionSettings& settings,
                          const ThreadUse& threads, const PipelineHooks& hooks) {
  const SessionConfig& config = settings.config;
  PreparedModel prepared;
  prepared.cancellation = cancellation_of(settings, hooks.deadline);
  prepared.metrics = environment.metrics.get();
  prepared.threads = threads;
  prepared.max_memory_patterns = config.max_memory_patterns;
  prepared.captures_streams = config.captures_streams;
  prepared.native_queues = config.native_queues;
  prepared.max_dense_bytes = config.max_dense_bytes;
  prepared.workers = hooks.workers;
  prepared.contradictions = std::make_shared<runtime::ShapeContradictions>();
  prepared.open_shapes = hooks.open_shapes;
  prepared.lost = hooks.lost;
  if (config.device_memory_limit != 0) {
    prepared.budgets = std::make_shared<DeviceBudgets>(config.device_memory_limit);
  }
  if (hooks.base != nullptr && !hooks.replaces_base) {
    prepared.contradictions = hooks.base->contradictions;
    prepared.open_shapes = hooks.base->open_shapes;
    prepared.lost = hooks.base->lost;
    prepared.budgets = hooks.base->budgets;
  }
  if (hooks.base != nullptr) {
    prepared.profiler = hooks.base->profiler;
  } else if (!config.profile_file.empty()) {
    prepared.profiler = std::make_shared<Profiler>(config.profile_file);
  }
  return prepared;
}

}  // namespace ephost::session
