#include "plugins/dnnl/library/guarded_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ephost_dnnl::guarded_memory_test {
namespace {

using Side = GuardedMemory::Side;

volatile char* bytes(const GuardedMemory& memory, std::size_t area) {
  return static_cast<char*>(memory.data(area));
}

std::string touch_text(const GuardedMemory& memory) {
  const std::optional<Touch> touch = memory.touch();
  return touch ? to_text(*touch) + " area " + std::to_string(touch->area) : "none";
}

TEST(GuardedMemory, HoldsZerosThatMayBeWritten) {
  for (const Side side : {Side::kBehind, Side::kBefore}) {
    const GuardedMemory memory({100, 1, 4096, 5000}, side);
    for (const auto& [area, size] : {std::pair{0, 100}, {1, 1}, {2, 4096}, {3, 5000}}) {
      volatile char* const data = bytes(memory, static_cast<std::size_t>(area));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U);
      for (int i = 0; i < size; ++i) {
        ASSERT_EQ(data[i], 0);
        data[i] = 1;
      }
    }
    EXPECT_EQ(touch_text(memory), "none");
  }
}

TEST(GuardedMemory, FindsAByteThatIsWrittenAtEitherEndOfAnyArea) {
  for (const Side side : {Side::kBehind, Side::kBefore}) {
    for (const std::size_t size : {1U, 100U, 4096U}) {
      for (const std::size_t area : {0U, 1U}) {
        const std::string name = " area " + std::to_string(area);
        const GuardedMemory behind({size, size}, side), before({size, size}, side);
        bytes(behind, area)[size] = 1;
        EXPECT_EQ(touch_text(behind), "writes 1 byte behind" + name);
        bytes(before, area)[-1] = 1;
        EXPECT_EQ(touch_text(before), "writes 1 byte before" + name);
      }
    }
  }
}

TEST(GuardedMemory, FindsAccessesToPagesFarOutside) {
  const GuardedMemory read({128}, Side::kBehind), written({128}, Side::kBefore);
  static_cast<void>(bytes(read, 0)[128 + 100]);
  EXPECT_EQ(touch_text(read), "reads 101 bytes behind area 0");
  bytes(written, 0)[-9000] = 1;
  EXPECT_EQ(touch_text(written), "writes 9000 bytes before area 0");
}

TEST(GuardedMemory, ReportsWritesBeforeReads) {
  const GuardedMemory memory({128}, Side::kBehind);
  static_cast<void>(bytes(memory, 0)[128]);
  bytes(memory, 0)[10000] = 1;
  EXPECT_EQ(touch_text(memory), "writes 9873 bytes behind area 0");
}

TEST(GuardedMemory, WatchesOtherThreads) {
  const GuardedMemory memory({64}, Side::kBehind), other({64}, Side::kBehind);
  std::thread([&] { bytes(memory, 0)[64] = 1; }).join();
  EXPECT_EQ(touch_text(memory), "writes 1 byte behind area 0");
  EXPECT_EQ(touch_text(other), "none");
}

TEST(GuardedMemory, RestoresTheHandlerThatWasThere) {
  struct sigaction before = {}, after = {};
  sigaction(SIGSEGV, nullptr, &before);
  { const GuardedMemory memory({64}, Side::kBehind); }
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
}

void exit_with_three(int) { _exit(3); }

TEST(GuardedMemoryDeathTest, PassesOtherFaultsOn) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, &exit_with_three);
        const GuardedMemory memory({64}, Side::kBehind);
        *reinterpret_cast<volatile char*>(16) = 1;
      },
      ::testing::ExitedWithCode(3), "");
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        const GuardedMemory memory({64}, Side::kBehind);
        *reinterpret_cast<volatile char*>(16) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace ephost_dnnl::guarded_memory_test
