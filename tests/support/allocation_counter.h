// Counter of the calling thread's allocations by operator new. Linking allocation_counter.cc
// replaces operator new and delete of the whole binary.
#pragma once

#include <cstdint>

namespace ephost::test {

[[nodiscard]] uint64_t allocations_of_this_thread();

// While it lives, all allocations of the calling thread but the first `count` fail.
class FailingAllocations {
 public:
  explicit FailingAllocations(uint64_t count);
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();
};

}  // namespace ephost::test
