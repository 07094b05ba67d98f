#include "host/context/store/cache_upkeep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/context/store/store_samples.h"

namespace ephost::context {
namespace {

namespace fs = std::filesystem;
using test::TempDirectory;
using ::testing::ElementsAre;
using testing::files_in;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::key_of;
using testing::make_older;
using testing::payload_in;
using testing::publish_sample;
using ::testing::UnorderedElementsAre;

class LocklessFileSystem : public PosixFileSystem {
 public:
  int flock(int, int) const override {
    errno = ENOLCK;
    return -1;
  }
};

// The entries `a`, `b` and `c`, last used three, two and one hours ago, all of one size.
class CacheUpkeep : public ::testing::Test {
 protected:
  void SetUp() override {
    const CacheStore unlimited({.folder = dir_.path()});
    int hours = 3;
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_TRUE(publish_sample(unlimited, key_of(name)).ok());
      make_older(entry(name), hours--);
    }
    entry_bytes_ = testing::items_in(dir_.path()).front().bytes;
    ASSERT_GT(entry_bytes_, 0U);
  }

  [[nodiscard]] std::string id(std::string_view name) const { return key_of(name).id; }
  [[nodiscard]] fs::path entry(std::string_view name) const { return dir_ / id(name); }
  [[nodiscard]] CacheStoreOptions options(CacheLimits limits = {}) const {
    return {.folder = dir_.path(), .limits = limits};
  }
  [[nodiscard]] CacheStoreOptions room_for(uint64_t entries) const {
    return options({.max_bytes = entries * entry_bytes_ + entry_bytes_ / 2});
  }
  void quarantine(std::string_view name) const {
    const CacheStore store(options());
    const Result<CacheLookup> lookup = store.find(key_of(name));
    ASSERT_TRUE(store.quarantine(*lookup->found, Status(StatusCode::kFail, "bad")).ok());
  }

  const TempDirectory dir_;
  uint64_t entry_bytes_ = 0;
};

TEST_F(CacheUpkeep, ListsTheLeastRecentlyUsedFirst) {
  std::vector<std::string> ids;
  for (const CacheItem& item : testing::items_in(dir_.path())) ids.push_back(item.id);
  EXPECT_THAT(ids, ElementsAre(id("a"), id("b"), id("c")));
}

TEST_F(CacheUpkeep, APublicationRemovesTheLeastRecentlyUsed) {
  ASSERT_TRUE(publish_sample(CacheStore(room_for(2)), key_of("d")).ok());
  EXPECT_THAT(files_in(dir_.path()), UnorderedElementsAre(id("c"), id("d")));
}

TEST_F(CacheUpkeep, AHitMakesAnEntryRecent) {
  EXPECT_EQ(payload_in(CacheStore(options()), key_of("a")), "payload");
  ASSERT_TRUE(evict(room_for(2)).ok());
  EXPECT_THAT(files_in(dir_.path()), UnorderedElementsAre(id("a"), id("c")));
}

TEST_F(CacheUpkeep, RemovesWhatWasNotUsedForTooLong) {
  make_older(entry("b"), 49);
  make_older(entry("a"), 47);
  ASSERT_TRUE(evict(options({.max_bytes = 0, .max_age_days = 2})).ok());
  EXPECT_THAT(files_in(dir_.path()), UnorderedElementsAre(id("a"), id("c")));
}

TEST_F(CacheUpkeep, ZeroAndEndlessLimitsRemoveNothing) {
  make_older(entry("a"), 24 * 10000);
  for (const uint64_t limit : {uint64_t{0}, std::numeric_limits<uint64_t>::max()}) {
    const Result<CacheRemoval> removal = evict(options({limit, limit}));
    ASSERT_TRUE(removal.ok());
    EXPECT_THAT(removal->removed, IsEmpty());
  }
}

TEST_F(CacheUpkeep, RemovesNothingThatIsInUse) {
  const CacheStore store(options());
  const Result<CacheLookup> used = store.find(key_of("a"));
  make_older(entry("a"), 5);
  const Result<CacheRemoval> evicted = evict(room_for(1));
  ASSERT_TRUE(evicted.ok());
  ASSERT_EQ(evicted->in_use.size(), 1U);
  EXPECT_EQ(evicted->in_use[0].id, id("a"));
  EXPECT_THAT(files_in(dir_.path()), ElementsAre(id("a")));
  ASSERT_TRUE(clear(options()).ok());
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
}

TEST_F(CacheUpkeep, RemovesWhatIsQuarantinedFirst) {
  quarantine("c");
  ASSERT_TRUE(evict(room_for(2)).ok());
  EXPECT_THAT(files_in(dir_.path()), UnorderedElementsAre(id("a"), id("b")));
}

TEST_F(CacheUpkeep, PruningAlsoRemovesWhatIsQuarantined) {
  quarantine("b");
  ASSERT_TRUE(evict(options()).ok());
  EXPECT_EQ(files_in(dir_.path()).size(), 3U);
  ASSERT_TRUE(prune(options()).ok());
  EXPECT_THAT(files_in(dir_.path()), UnorderedElementsAre(id("a"), id("c")));
}

TEST_F(CacheUpkeep, ClearingLeavesWhatIsNotTheStores) {
  dir_.write("notes.txt", "mine");
  dir_.write("0123/model.onnx", "mine");
  dir_.write(std::string(32, '0'), "a file with the name of an entry");
  quarantine("b");
  const Result<CacheRemoval> removal = clear(options());
  ASSERT_TRUE(removal.ok());
  EXPECT_EQ(removal->removed.size(), 3U);
  EXPECT_THAT(files_in(dir_.path()), ElementsAre(std::string(32, '0'), "0123", "notes.txt"));
}

TEST_F(CacheUpkeep, FollowsNoLinkWhenItRemoves) {
  const TempDirectory elsewhere;
  elsewhere.write("precious", "mine");
  fs::create_directory_symlink(elsewhere.path(), entry("a") / "link");
  fs::create_directory_symlink(elsewhere.path(), dir_ / std::string(32, '1'));
  ASSERT_TRUE(clear(options()).ok());
  EXPECT_EQ(testing::content_of(elsewhere / "precious"), "mine");
}

TEST_F(CacheUpkeep, RemovesTheTemporaryFoldersOfDeadProcessesOnly) {
  const CacheStore store(options());
  dir_.write("tmp-dead/entry/model_ctx.onnx", "half");
  const Result<StagedEntry> living = store.stage();
  ASSERT_TRUE(living.ok());
  ASSERT_TRUE(evict(options()).ok());
  EXPECT_FALSE(fs::exists(dir_ / "tmp-dead"));
  EXPECT_TRUE(fs::exists(living->model_path().parent_path()));
}

TEST_F(CacheUpkeep, GoesByAgeWhereThereAreNoLocks) {
  const LocklessFileSystem lockless;
  CacheStoreOptions without_locks = options();
  without_locks.file_system = &lockless;
  dir_.write("tmp-young/file", "half");
  dir_.write("tmp-old/file", "half");
  make_older(dir_ / "tmp-old", 25);
  ASSERT_TRUE(evict(without_locks).ok());
  EXPECT_TRUE(fs::exists(dir_ / "tmp-young"));
  EXPECT_FALSE(fs::exists(dir_ / "tmp-old"));
}

TEST_F(CacheUpkeep, VerifyFindsEveryDamagedFile) {
  const auto problems_of = [&] {
    return verify_entry(testing::items_in(dir_.path()).front(), posix_file_system());
  };
  EXPECT_THAT(problems_of(), IsEmpty());
  for (const std::string& name : files_in(entry("a"))) {
    SCOPED_TRACE(name);
    const std::string intact = testing::content_of(entry("a") / name);
    std::string damaged = intact;
    damaged[damaged.size() / 2] ^= 1;
    ASSERT_TRUE(write_file_atomically(entry("a") / name, as_bytes(damaged)).ok());
    make_older(entry("a"), 3);
    EXPECT_EQ(problems_of().size(), 1U);
    fs::remove(entry("a") / name);
    make_older(entry("a"), 3);
    EXPECT_EQ(problems_of().size(), 1U);
    ASSERT_TRUE(write_file_atomically(entry("a") / name, as_bytes(intact)).ok());
  }
}

TEST_F(CacheUpkeep, VerifyFindsAnEntryUnderAnotherName) {
  fs::remove_all(entry("b"));
  fs::rename(entry("a"), entry("b"));
  for (const CacheItem& item : testing::items_in(dir_.path())) {
    const std::vector<std::string> problems = verify_entry(item, posix_file_system());
    EXPECT_EQ(problems.size(), item.id == id("b") ? 1U : 0U);
  }
}

TEST(CacheUpkeepOfNothing, NamesAStoreThatIsNotThere) {
  const TempDirectory dir;
  const CacheStoreOptions options{.folder = dir / "nowhere"};
  EXPECT_EQ(scan_store(options.folder, posix_file_system()).status().code(),
            StatusCode::kNoSuchFile);
  EXPECT_EQ(clear(options).status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(prune(options).status().message(), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace ephost::context
