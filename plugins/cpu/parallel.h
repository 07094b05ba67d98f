// Splitting loops over the threads of OpenMP, the pool that oneDNN uses too, and choosing their
// number for one call of a kernel.
#pragma once

#include <cstdint>

// ThreadSanitizer doesn't see the synchronisation inside of OpenMP's library: one thread there.
#if defined(__SANITIZE_THREAD__)
#define CPU_SINGLE_THREADED 1
#else
#define CPU_SINGLE_THREADED 0
#endif

#if !CPU_SINGLE_THREADED
#include <omp.h>
#endif

namespace cpu {

// While it lives, parallel loops and oneDNN on this thread use `threads` threads; 0 leaves OpenMP's
// default (OMP_NUM_THREADS, or one for each core).
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope();

 private:
  int previous_ = 0;  // 0: nothing to restore
};

// Keeps the library of OpenMP mapped for good: its idle threads would be left without code where
// the plugin is unloaded.
void pin_openmp();

// Work, in rough nanoseconds, below which a second thread costs more than it saves.
inline constexpr int64_t kParallelWork = 20000;

// Calls body(begin, end) on disjoint ranges that make up [0, count), in parallel where `count`
// items of `cost` nanoseconds are worth it. The body must not throw.
template <class Body>
void parallel_for(int64_t count, [[maybe_unused]] double cost, const Body& body) {
#if !CPU_SINGLE_THREADED
  if (count > 1 && static_cast<double>(count) * cost > kParallelWork && omp_in_parallel() == 0 &&
      omp_get_max_threads() > 1) {
#pragma omp parallel
    {
      const int64_t threads = omp_get_num_threads();
      const int64_t share = count / threads;
      const int64_t rest = count % threads;
      const int64_t index = omp_get_thread_num();
      const int64_t begin = index * share + (index < rest ? index : rest);
      const int64_t end = begin + share + (index < rest ? 1 : 0);
      if (begin < end) body(begin, end);
    }
    return;
  }
#endif
  if (count > 0) body(int64_t{0}, count);
}

}  // namespace cpu
