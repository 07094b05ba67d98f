#include "host/cli/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(EPHOST_COUNT_ALLOCATIONS) && defined(__GLIBC__)

namespace {

std::atomic<bool> counting{false};
std::atomic<uint64_t> allocations{0};

void count() noexcept {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The C library's own allocator under the names that it keeps for whoever replaces malloc. What is
// allocated here is freed by the C library's free, which stays in place.
extern "C" {
void* __libc_malloc(size_t size) noexcept;                      // NOLINT
void* __libc_calloc(size_t count, size_t size) noexcept;        // NOLINT
void* __libc_realloc(void* memory, size_t size) noexcept;       // NOLINT
void* __libc_memalign(size_t alignment, size_t size) noexcept;  // NOLINT

void* malloc(size_t size) noexcept {
  count();
  return __libc_malloc(size);
}

void* calloc(size_t number, size_t size) noexcept {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* memory, size_t size) noexcept {
  count();
  return __libc_realloc(memory, size);
}

void* memalign(size_t alignment, size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out_memory, size_t alignment, size_t size) noexcept {
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
  count();
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out_memory = memory;
  return 0;
}
}  // extern "C"

namespace ephost::cli {

void start_counting_allocations() {
  allocations = 0;
  counting = true;
}

std::optional<uint64_t> stop_counting_allocations() {
  counting = false;
  return allocations.load();
}

}  // namespace ephost::cli

#else

namespace ephost::cli {

void start_counting_allocations() {}
std::optional<uint64_t> stop_counting_allocations() { return std::nullopt; }

}  // namespace ephost::cli

#endif
