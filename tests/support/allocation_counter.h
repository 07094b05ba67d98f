// Counts the allocations by operator new of the calling thread. Linking allocation_counter.cc
// replaces operator new and delete of the whole binary.
#pragma once

#include <cstdint>

namespace ephost::test {

[[nodiscard]] uint64_t allocations_of_this_thread();

}  // namespace ephost::test
