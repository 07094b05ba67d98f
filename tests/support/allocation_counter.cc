#include "tests/support/allocation_counter.h"

#include <cstdlib>
#include <limits>
#include <new>

namespace {
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

thread_local uint64_t allocations = 0;
thread_local uint64_t fails_at = kNever;
}  // namespace

namespace ephost::test {
uint64_t allocations_of_this_thread() { return allocations; }

FailingAllocations::FailingAllocations(uint64_t count) { fails_at = allocations + count; }
FailingAllocations::~FailingAllocations() { fails_at = kNever; }
}  // namespace ephost::test

// Sanitizers bring a nothrow form of their own, which would not go with this delete.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  if (allocations >= fails_at) return nullptr;
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
