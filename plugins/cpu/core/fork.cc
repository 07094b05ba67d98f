#include "plugins/cpu/core/fork.h"

#include <omp.h>
#include <pthread.h>

namespace ephost_cpu {

// Does nothing in a parallel region.
void end_openmp_threads() { omp_pause_resource_all(omp_pause_hard); }

void let_children_use_openmp() {
  static const int registered = pthread_atfork(end_openmp_threads, nullptr, nullptr);
  static_cast<void>(registered);  // without memory for it, forks are as they were
}

}  // namespace ephost_cpu
