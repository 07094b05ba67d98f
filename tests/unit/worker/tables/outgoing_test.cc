#include "host/worker/tables/outgoing.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/worker/process_contents.h"
#include "tests/unit/worker/tables/few_descriptors.h"

namespace ephost::worker::outgoing_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SharedMemory make_memory() {
  return *SharedMemory::create("ephost-test", 4096, SharedAccess::kReadWrite);
}

// The regions that the next request takes away; it is not sent.
std::vector<uint64_t> removed_by(Outgoing& outgoing) {
  wire::Request request;
  EXPECT_THAT(outgoing.finish(request), IsOk());
  return {request.removed_regions().begin(), request.removed_regions().end()};
}

// What one call tells the worker, which gets it.
std::vector<uint64_t> removed_by_call(KnownRegions& known) {
  Outgoing outgoing(known);
  std::vector<uint64_t> removed = removed_by(outgoing);
  outgoing.confirm();
  return removed;
}

uint64_t send(KnownRegions& known, const SharedMemory& memory) {
  Outgoing outgoing(known);
  EXPECT_TRUE(outgoing.refer(memory.region()));
  wire::Request request;
  EXPECT_THAT(outgoing.finish(request), IsOk());
  outgoing.confirm();
  return memory.region()->id;
}

TEST(Outgoing, TellsOnceOfWhatWasRemoved) {
  KnownRegions known;
  SharedMemory memory = make_memory();
  const uint64_t id = send(known, memory);
  EXPECT_THAT(removed_by_call(known), IsEmpty());
  memory = SharedMemory();
  EXPECT_THAT(removed_by_call(known), ElementsAre(id));
  EXPECT_THAT(removed_by_call(known), IsEmpty());
}

TEST(Outgoing, TellsAgainWhereTheCallFailed) {
  KnownRegions known;
  SharedMemory memory = make_memory();
  const uint64_t id = send(known, memory);
  memory = SharedMemory();
  {
    Outgoing failed(known);
    EXPECT_THAT(removed_by(failed), ElementsAre(id));
  }
  EXPECT_THAT(removed_by_call(known), ElementsAre(id));
  EXPECT_THAT(removed_by_call(known), IsEmpty());
}

TEST(Outgoing, TellsAgainWhereNoDescriptorWasLeft) {
  if (kNeedsDescriptors) GTEST_SKIP() << "the sanitizer opens some itself";
  KnownRegions known;
  SharedMemory memory = make_memory();
  const uint64_t id = send(known, memory);
  memory = SharedMemory();
  const SharedMemory other = make_memory();
  {
    Outgoing failed(known);
    ASSERT_TRUE(failed.refer(other.region()));
    const FewDescriptors none(0);
    wire::Request request;
    EXPECT_EQ(failed.finish(request).status().code(), StatusCode::kFail);
    // The next message has nothing of it.
    EXPECT_FALSE(failed.has_news());
    wire::Answer answer;
    EXPECT_THAT(failed.finish(answer), IsOk());
  }
  EXPECT_THAT(removed_by_call(known), ElementsAre(id));
}

TEST(Outgoing, KeepsNothingOfWhatItSent) {
  KnownRegions known;
  Outgoing outgoing(known);
  const size_t before = open_descriptors();
  uint64_t id = 0;
  {
    const SharedMemory memory = make_memory();
    id = memory.region()->id;
    ASSERT_TRUE(outgoing.refer(memory.region()));
    wire::Answer answer;
    EXPECT_EQ(outgoing.finish(answer)->descriptors.size(), 1U);
    EXPECT_EQ(outgoing.find(id), memory.region());
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(outgoing.find(id), nullptr);
  outgoing.confirm();
  // The worker has mapped it all the same.
  EXPECT_THAT(removed_by_call(known), ElementsAre(id));
}

TEST(Outgoing, FindsWhatEarlierCallsHaveSent) {
  KnownRegions known;
  const SharedMemory memory = make_memory();
  const uint64_t id = send(known, memory);
  const Outgoing outgoing(known);
  EXPECT_EQ(outgoing.find(id), memory.region());
  EXPECT_EQ(outgoing.find(id + 1000), nullptr);
}

}  // namespace
}  // namespace ephost::worker::outgoing_test
