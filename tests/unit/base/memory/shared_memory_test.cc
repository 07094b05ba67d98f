#include "host/base/memory/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::shared_memory_test {
namespace {

using test::IsOk;

SharedMemory memory_of(size_t size, SharedAccess access = SharedAccess::kReadWrite) {
  return *SharedMemory::create("test", size, access);
}

TEST(SharedRegionsTest, FindsWhatLiesWhollyInARegion) {
  const SharedMemory memory = memory_of(8192);
  const std::span<std::byte> bytes = memory.bytes();
  EXPECT_EQ(SharedRegions::find(bytes.subspan(5, 10))->offset, 5U);
  EXPECT_EQ(SharedRegions::find(bytes)->region, memory.region());
  EXPECT_FALSE(SharedRegions::find({bytes.data() + 8190, 3}));
  EXPECT_FALSE(SharedRegions::find({bytes.data() - 1, 1}));
  std::byte other{};
  EXPECT_FALSE(SharedRegions::find({&other, 1}));
}

TEST(SharedRegionsTest, ForgetsMemoryThatIsFreedAndChangesTheGeneration) {
  const std::byte* address = nullptr;
  const uint64_t before = SharedRegions::generation();
  {
    const SharedMemory memory = memory_of(4096);
    address = memory.bytes().data();
    EXPECT_NE(SharedRegions::generation(), before);
  }
  EXPECT_FALSE(SharedRegions::find({address, 1}));
  EXPECT_EQ(SharedRegions::generation(), before + 2);
}

TEST(SharedMemoryTest, CannotBeShrunk) {
  const SharedMemory memory = memory_of(4096);
  EXPECT_NE(::ftruncate(memory.region()->descriptor.get(), 0), 0);
}

TEST(SharedMemoryTest, ForReadingCannotBeOpenedForWritingAgain) {
  const SharedMemory memory = memory_of(4096, SharedAccess::kRead);
  memory.bytes()[0] = std::byte{1};
  const int descriptor = memory.region()->descriptor.get();
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const FileDescriptor again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const char byte = 0;
  EXPECT_LT(::pwrite(again.get(), &byte, 1, 0), 0);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, again.get(), 0), MAP_FAILED);
  EXPECT_EQ(memory.bytes()[0], std::byte{1});
}

// What `check` says in a process that is forked from this one, while `meanwhile` runs here.
bool holds_in_fork(const std::function<bool()>& check, const std::function<void()>& meanwhile) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  meanwhile();
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(SharedMemoryTest, IsSharedWithReadersAndNotWithForkedProcesses) {
  const SharedMemory memory = memory_of(8192, SharedAccess::kRead);
  const std::span<std::byte> bytes = memory.bytes();
  std::ranges::fill(bytes, std::byte{1});
  const uint64_t generation = SharedRegions::generation();
  const auto keeps_its_own = [&] {
    const auto is_one = [](std::byte byte) { return byte == std::byte{1}; };
    for (int i = 0; i < 1000; ++i) {
      if (!std::ranges::all_of(bytes, is_one)) return false;
    }
    std::ranges::fill(bytes, std::byte{3});
    return !SharedRegions::find(bytes) && SharedRegions::generation() != generation;
  };
  EXPECT_TRUE(holds_in_fork(keeps_its_own, [&] { std::ranges::fill(bytes, std::byte{2}); }));
  EXPECT_EQ(bytes[8191], std::byte{2});
  EXPECT_EQ(SharedRegions::find(bytes)->region, memory.region());
  // A worker has the pages of this process.
  std::byte seen{};
  ASSERT_EQ(::pread(memory.region()->descriptor.get(), &seen, 1, 0), 1);
  EXPECT_EQ(seen, std::byte{2});
}

TEST(SharedMemoryTest, CanBeMadeAndFreedInAForkedProcess) {
  auto memory = std::make_optional(memory_of(4096, SharedAccess::kRead));
  const auto works = [&] {
    memory.reset();
    const SharedMemory other = memory_of(4096, SharedAccess::kRead);
    const auto nested = [&] { return !SharedRegions::find(other.bytes()); };
    return SharedRegions::find(other.bytes()).has_value() && holds_in_fork(nested, [] {});
  };
  EXPECT_TRUE(holds_in_fork(works, [] {}));
}

TEST(SharedMemoryTest, SaysWhenThereIsNotEnough) {
  const Result<SharedMemory> memory =
      SharedMemory::create("test", size_t{1} << 62, SharedAccess::kReadWrite);
  ASSERT_FALSE(memory.ok());
  EXPECT_NE(memory.status().message().find("4611686018427387904 bytes of shared memory"),
            std::string::npos);
  EXPECT_FALSE(SharedMemory::create("test", SIZE_MAX, SharedAccess::kRead).ok());
}

TEST(SealedMappingTest, MapsWhatItSealed) {
  const std::string text = "payload";
  const auto descriptor = SealedMapping::seal("test", std::as_bytes(std::span(text)));
  const auto mapping = SealedMapping::map(*descriptor, text.size());
  ASSERT_THAT(mapping, IsOk());
  EXPECT_EQ(std::memcmp(mapping->bytes().data(), text.data(), text.size()), 0);
}

TEST(SealedMappingTest, RefusesMemoryThatIsTooSmallNotSealedOrAFile) {
  const auto descriptor = SealedMapping::seal("test", std::vector<std::byte>(10));
  EXPECT_EQ(SealedMapping::map(*descriptor, 11).status().message(),
            "sealed memory has 10 bytes instead of 11");
  const SharedMemory memory = memory_of(4096);
  EXPECT_FALSE(SealedMapping::map(memory.region()->descriptor, 10).ok());
  const test::TempDirectory folder;
  const FileDescriptor file(::open(folder.write("f", "content").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(SealedMapping::map(file, 3).ok());
}

}  // namespace
}  // namespace ephost::shared_memory_test
