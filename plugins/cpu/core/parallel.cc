#include "plugins/cpu/core/parallel.h"

#include <omp.h>

#include "plugins/cpu/core/pinned_library.h"

// ThreadSanitizer does not see the synchronisation inside OpenMP's library: one thread there.
#if defined(__SANITIZE_THREAD__)
#define CPU_OPENMP_IS_ALONE 1
#else
#define CPU_OPENMP_IS_ALONE 0
#endif

namespace ephost_cpu {
namespace {

thread_local const Threads* current = nullptr;

}  // namespace

Threads choose_threads(eph::Host host, int option) {
  Threads threads;
  threads.pool = eph::ThreadPool(host);
  threads.loops = option;
  threads.onednn = option;
  const auto share = static_cast<int>(threads.pool.library_thread_count());
  if (option == 0 && share != 0) threads.onednn = std::min(share, omp_get_max_threads());
  if (CPU_OPENMP_IS_ALONE) threads.onednn = 1;
  threads.crowd = ephost_openmp::Crowd::shared();
  return threads;
}

const Threads* current_threads() { return current; }

ThreadScope::ThreadScope(const Threads& threads) : outer_(current) {
  current = &threads;
  if (threads.onednn == 0) return;
  const int before = omp_get_max_threads();
  if (before == threads.onednn) return;
  openmp_ = before;
  omp_set_num_threads(threads.onednn);
}

ThreadScope::~ThreadScope() {
  current = outer_;
  if (openmp_ != 0) omp_set_num_threads(openmp_);
}

OneDnnUse::OneDnnUse() {
  if (current == nullptr || current->crowd == nullptr) return;
  run_.emplace(*current->crowd, omp_get_max_threads());
}

void pin_openmp() { pin_library_of(reinterpret_cast<void*>(&omp_get_max_threads)); }

}  // namespace ephost_cpu
