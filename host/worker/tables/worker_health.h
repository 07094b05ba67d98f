// The health of the workers of a plugin: whether they live.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <mutex>
#include <vector>

namespace ephost::worker {

class WorkerState;

// Safe from any thread.
class WorkerHealth {
 public:
  void add(std::shared_ptr<const WorkerState> worker);
  // EP_FAIL once one of them has died, or was killed because of what it did: how, `the worker of
  // "acme" died of ...`. OK as long as they live, and when the host has ended them.
  [[nodiscard]] Status status() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const WorkerState>> workers_;
};

}  // namespace ephost::worker
