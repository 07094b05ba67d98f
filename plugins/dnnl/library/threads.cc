#include "plugins/dnnl/library/threads.h"

#include <omp.h>

namespace ephost_dnnl {

int default_thread_count() { return omp_get_max_threads(); }

ThreadScope::ThreadScope(int threads) : previous_(omp_get_max_threads()) {
  if (threads != previous_) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

}  // namespace ephost_dnnl
