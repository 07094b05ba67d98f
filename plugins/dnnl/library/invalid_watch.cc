#include "plugins/dnnl/library/invalid_watch.h"

#include <omp.h>

#include <atomic>
#include <oneapi/dnnl/dnnl.hpp>

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace ephost_dnnl {
namespace {

// The flag of this thread. That of <cfenv> also counts a unit that is not used, which takes longer
// than a small model has to spare.
#if defined(__SSE2__)
bool is_raised() { return (_mm_getcsr() & _MM_EXCEPT_INVALID) != 0; }
void lower() { _mm_setcsr(_mm_getcsr() & ~unsigned{_MM_EXCEPT_INVALID}); }
void raise() { _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INVALID); }
#else
bool is_raised() { return std::fetestexcept(FE_INVALID) != 0; }
void lower() { std::feclearexcept(FE_INVALID); }
void raise() { std::feraiseexcept(FE_INVALID); }
#endif

std::atomic<uint64_t> watches{0};

// The last watch that this thread was in the team of.
thread_local uint64_t last_watch = 0;

// Whether the library's threads are those of OpenMP.
bool can_watch() {
  return (dnnl::version()->cpu_runtime & ~(DNNL_RUNTIME_SEQ | DNNL_RUNTIME_OMP)) == 0;
}

// Calls body on each thread of the team.
template <class Body>
void on_team(const Body& body) {
  if (omp_get_max_threads() == 1) {
    body();
    return;
  }
#pragma omp parallel
  body();
}

}  // namespace

InvalidWatch::InvalidWatch() : number_(++watches), was_raised_(is_raised()) {
  on_team([&] {
    lower();
    last_watch = number_;
  });
}

InvalidWatch::~InvalidWatch() {
  if (was_raised_) raise();
}

bool InvalidWatch::has_seen_any() const {
  static const bool is_known = can_watch();
  std::atomic<bool> seen{!is_known};
  on_team([&] {
    if (last_watch != number_ || is_raised()) seen = true;
  });
  return seen;
}

}  // namespace ephost_dnnl
