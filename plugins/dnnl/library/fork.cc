#include "plugins/dnnl/library/fork.h"

#include <omp.h>
#include <pthread.h>

namespace ephost_dnnl {
namespace {

void end_threads() { omp_pause_resource_all(omp_pause_hard); }

}  // namespace

void let_children_use_openmp() {
  static const int registered = pthread_atfork(end_threads, nullptr, nullptr);
  static_cast<void>(registered);  // without memory for it, forks are as they were
}

}  // namespace ephost_dnnl
