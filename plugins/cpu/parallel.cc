#include "plugins/cpu/parallel.h"

#include <dlfcn.h>

#if CPU_SINGLE_THREADED
#include <omp.h>
#endif

namespace cpu {

ThreadScope::ThreadScope(int threads) {
  if (CPU_SINGLE_THREADED) threads = 1;
  if (threads == 0) return;
  const int current = omp_get_max_threads();
  if (current == threads) return;
  previous_ = current;
  omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (previous_ != 0) omp_set_num_threads(previous_);
}

void pin_openmp() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&omp_get_max_threads), &info) != 0) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace cpu
