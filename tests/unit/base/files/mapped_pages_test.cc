#include "host/base/files/mapped_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/memory/shared_memory.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::mapped_pages_test {
namespace {

using test::IsOk;

// The number of pages of the range that are currently mapped into the process's memory.
size_t resident_pages(std::span<const std::byte> bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const std::string map = *read_file("/proc/self/smaps");
  char name[32];
  std::snprintf(name, sizeof(name), "%lx-", reinterpret_cast<unsigned long>(bytes.data()));
  const size_t at = map.find(name);
  EXPECT_NE(at, std::string::npos);
  return std::stoul(map.substr(map.find("Rss:", at) + 4)) * 1024 / page;
}

size_t touch(std::span<const std::byte> bytes) {
  size_t sum = 0;
  for (const std::byte byte : bytes) sum += static_cast<size_t>(byte);
  return sum;
}

TEST(MappedPages, AreGivenBackAndStayReadable) {
  const test::TempDirectory dir;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto path = dir.write("data", std::string(64 * page, 'x'));
  const MappedFile file = *MappedFile::open(path);
  const size_t sum = touch(file.bytes());
  EXPECT_EQ(resident_pages(file.bytes()), 64U);
  // Only whole pages are released: others may use the first and the last page.
  release_pages(file.bytes().subspan(1, 62 * page));
  EXPECT_LE(resident_pages(file.bytes()), 3U);
  EXPECT_EQ(touch(file.bytes()), sum);
}

TEST(MappedFile, ThatIsReplacedIsAsItWas) {
  const test::TempDirectory dir;
  const auto path = dir.write("data", "before");
  const MappedFile file = *MappedFile::open(path);
  const OpenedFile opened = *find_mapped_file(file.bytes().subspan(2));
  EXPECT_EQ(opened.path, path);
  EXPECT_TRUE(opened.is_there());
  EXPECT_THAT(check_unchanged(file.bytes()), IsOk());
  std::filesystem::rename(dir.write("new", "before"), path);
  EXPECT_FALSE(opened.is_there());
  EXPECT_THAT(check_unchanged(file.bytes()), IsOk());
  std::filesystem::remove(path);
  EXPECT_FALSE(opened.is_there());
  EXPECT_THAT(check_unchanged(file.bytes()), IsOk());
}

TEST(MappedFile, ThatIsChangedInPlaceIsNotReadAgain) {
  const test::TempDirectory dir;
  const auto path = dir.write("data", "before");
  const MappedFile file = *MappedFile::open(path);
  const auto times = std::filesystem::last_write_time(path);
  std::fstream(path) << "after.";
  std::filesystem::last_write_time(path, times);
  const Status changed = check_unchanged(file.bytes());
  EXPECT_EQ(changed.code(), StatusCode::kFail);
  EXPECT_NE(changed.message().find("was changed or replaced after it had been read"),
            std::string::npos);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(check_unchanged(file.bytes()).code(), StatusCode::kFail);
  const std::vector<std::byte> other(4);
  EXPECT_THAT(check_unchanged(other), IsOk());
  EXPECT_FALSE(find_mapped_file(other));
}

TEST(MappedPages, LeaveOtherMemoryAlone) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const std::unique_ptr<std::byte[]> memory(new std::byte[16 * page]);
  std::memset(memory.get(), 7, 16 * page);
  const test::TempDirectory dir;
  const MappedFile before = *MappedFile::open(dir.write("data", std::string(page, 'x')));
  release_pages({memory.get(), 16 * page});
  EXPECT_EQ(touch({memory.get(), 16 * page}), 16 * page * 7);
  release_pages({});
}

TEST(MappedPages, OfAFileCanBeSharedFromItsDescriptor) {
  const test::TempDirectory folder;
  const auto path = folder.write("model", std::string(10'000, 'm'));
  const uint64_t generation = SharedRegions::generation();
  std::optional<MappedFile> file = *MappedFile::open(path);
  EXPECT_EQ(SharedRegions::generation(), generation);
  const std::span<const std::byte> bytes = file->bytes();
  const std::optional<SharedPlace> place = SharedRegions::find(bytes.subspan(7000, 10));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->offset, 7000U);
  EXPECT_EQ(place->region->access, SharedAccess::kRead);
  EXPECT_EQ(place->region->bytes.size(), 10'000U);
  char byte = 0;
  EXPECT_EQ(::pread(place->region->descriptor.get(), &byte, 1, 7000), 1);
  EXPECT_EQ(byte, 'm');
  EXPECT_LT(::pwrite(place->region->descriptor.get(), &byte, 1, 7000), 0);
  EXPECT_EQ(SharedRegions::find(bytes)->region, place->region);
  file.reset();
  EXPECT_FALSE(SharedRegions::find(bytes.first(1)));
}

TEST(MappedPages, OfAFileThatWasReplacedAreNotShared) {
  const test::TempDirectory folder;
  const auto path = folder.write("model", std::string(10'000, 'm'));
  const MappedFile file = *MappedFile::open(path);
  ASSERT_THAT(write_file_atomically(path, as_bytes(std::string(10'000, 'x'))), IsOk());
  EXPECT_FALSE(SharedRegions::find(file.bytes()));
}

}  // namespace
}  // namespace ephost::mapped_pages_test
