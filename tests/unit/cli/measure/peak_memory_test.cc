#include "host/cli/measure/peak_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace ephost::cli::peak_memory_test {
namespace {

TEST(PeakMemory, IsTheFieldVmHwmInBytes) {
  EXPECT_EQ(
      parse_peak_resident_bytes("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t    12 kB\nVmRSS:\t 3 kB\n"),
      12 * 1024);
}

TEST(PeakMemory, IsZeroWhereTheKernelDoesNotTell) {
  EXPECT_EQ(parse_peak_resident_bytes("Name:\tx\n"), 0);
  EXPECT_EQ(parse_peak_resident_bytes("Name:\tx\nVmHWM:"), 0);
}

TEST(PeakMemory, KeepsWhatWasResidentAfterItIsReleased) {
  constexpr size_t kBytes = size_t{64} << 20;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  ::munmap(memory, kBytes);
  EXPECT_GE(peak_resident_bytes(), kBytes);
}

}  // namespace
}  // namespace ephost::cli::peak_memory_test
