#include "host/worker/transport/regions.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::worker::regions_test {
namespace {

using test::IsOk;

SharedMemory memory_of(size_t size) {
  return *SharedMemory::create("test", size, SharedAccess::kReadWrite);
}

TEST(KnownRegionsTest, NamesOnceWhatTheHostHasRemoved) {
  KnownRegions known;
  uint64_t id = 0;
  {
    const SharedMemory memory = memory_of(4096);
    id = memory.region()->id;
    EXPECT_TRUE(known.needs(*memory.region()));
    known.confirm(memory.region());
    EXPECT_FALSE(known.needs(*memory.region()));
    EXPECT_TRUE(known.take_removed().empty());
  }
  EXPECT_EQ(known.take_removed(), std::vector<uint64_t>{id});
  EXPECT_TRUE(known.take_removed().empty());
}

TEST(KnownRegionsTest, NoticesARegionThatWasRemovedButIsStillHeld) {
  KnownRegions known;
  SharedRegionPtr held;
  {
    const SharedMemory memory = memory_of(4096);
    held = memory.region();
    known.confirm(held);
  }
  EXPECT_EQ(known.take_removed().size(), 1U);
}

TEST(MappedRegionsTest, MapsAnyOffsetOfAFileForReading) {
  const test::TempDirectory folder;
  std::string content(10'000, 'a');
  content[5000] = 'b';
  const FileDescriptor file(::open(folder.write("f", content).c_str(), O_RDONLY | O_CLOEXEC));
  MappedRegions regions;
  ASSERT_THAT(regions.add(3, file, 4999, 100, SharedAccess::kRead), IsOk());
  EXPECT_EQ((*regions.translate(3, 1, 1))[0], static_cast<std::byte>('b'));
}

TEST(MappedRegionsTest, RefusesPlacesOutside) {
  const SharedMemory memory = memory_of(4096);
  MappedRegions regions;
  const FileDescriptor& descriptor = memory.region()->descriptor;
  EXPECT_EQ(regions.add(1, descriptor, 0, 4097, SharedAccess::kRead).message(),
            "cannot map shared region 1: it lies beyond the end of its file");
  EXPECT_FALSE(regions.add(1, descriptor, UINT64_MAX, 2, SharedAccess::kRead).ok());
  ASSERT_THAT(regions.add(1, descriptor, 0, 4096, SharedAccess::kRead), IsOk());
  EXPECT_THAT(regions.translate(1, 4096, 0), IsOk());
  EXPECT_FALSE(regions.translate(1, 4096, 1).ok());
  EXPECT_FALSE(regions.translate(1, UINT64_MAX, 2).ok());
  EXPECT_EQ(regions.translate(2, 0, 1).status().message(), "shared region 2 is not mapped");
  regions.remove(1);
  EXPECT_FALSE(regions.translate(1, 0, 1).ok());
}

}  // namespace
}  // namespace ephost::worker::regions_test
