#include "host/worker/tables/worker_health.h"

#include <utility>

#include "host/worker/process/worker_state.h"

namespace ephost::worker {

void WorkerHealth::add(std::shared_ptr<const WorkerState> worker) {
  const std::lock_guard lock(mutex_);
  workers_.push_back(std::move(worker));
}

Status WorkerHealth::status() const {
  const std::lock_guard lock(mutex_);
  for (const auto& worker : workers_) EPHOST_RETURN_IF_ERROR(worker->failure());
  return Status::ok_status();
}

}  // namespace ephost::worker
