#include "plugins/dnnl/library/threads.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>

namespace ephost_dnnl {

void pin_openmp() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&omp_get_max_threads), &info) != 0) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

int default_thread_count(int share) {
  const int own = omp_get_max_threads();
  return share == 0 ? own : std::min(own, share);
}

ThreadScope::ThreadScope(int threads) : previous_(omp_get_max_threads()) {
  if (threads != previous_) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

}  // namespace ephost_dnnl
