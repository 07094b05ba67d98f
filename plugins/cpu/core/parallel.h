// Splits loops over the host's threads, and sets the number of OpenMP threads that oneDNN uses in
// one call of a kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ephost/sdk/host.hpp>
#include <memory>
#include <optional>

#include "plugins/openmp/crowd.h"

namespace ephost_cpu {

struct Threads {
  eph::ThreadPool pool;
  int loops = 0;   // in one loop; 0: as many as the pool gives
  int onednn = 0;  // 0: OpenMP's default (OMP_NUM_THREADS, or one for each core)
  std::shared_ptr<ephost_openmp::Crowd> crowd;
};

// The threads of a provider: `option` for both, or what the host offers if it is 0.
[[nodiscard]] Threads choose_threads(eph::Host host, int option);

// While it lives, parallel loops and oneDNN on this thread use these threads, which are borrowed.
class ThreadScope {
 public:
  explicit ThreadScope(const Threads& threads);
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope();

 private:
  const Threads* outer_;
  int openmp_ = 0;  // 0: nothing to restore
};

// While it lives, oneDNN may use the threads of the current scope: whether others want their
// processors is found out meanwhile.
class OneDnnUse {
 public:
  OneDnnUse();

 private:
  std::optional<ephost_openmp::Crowd::Run> run_;
};

// Keeps the OpenMP runtime mapped for the life of the process: its idle threads would lose their
// code if the plugin were unloaded.
void pin_openmp();

// Work, in approximate nanoseconds, below which a second thread costs more than it saves.
inline constexpr int64_t kParallelWork = 20000;

// The threads of the current scope; null outside a scope, and in the pool's own threads.
[[nodiscard]] const Threads* current_threads();

// Calls body(begin, end) on disjoint ranges that make up [0, count), in parallel if `count` items
// of `cost` nanoseconds are worth it. The body must not throw.
template <class Body>
void parallel_for(int64_t count, double cost, const Body& body) {
  if (count <= 0) return;
  const Threads* const threads =
      static_cast<double>(count) * cost > kParallelWork ? current_threads() : nullptr;
  if (threads == nullptr || threads->loops == 1) {
    body(int64_t{0}, count);
    return;
  }
  int64_t grain = static_cast<int64_t>(kParallelWork / (2 * cost)) + 1;
  if (threads->loops > 1) grain = std::max(grain, (count - 1) / threads->loops + 1);
  threads->pool.parallel_for(static_cast<uint64_t>(count), static_cast<uint64_t>(grain),
                             [&](uint64_t begin, uint64_t end) {
                               body(static_cast<int64_t>(begin), static_cast<int64_t>(end));
                             });
}

}  // namespace ephost_cpu
