#include "host/context/store/cache_upkeep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/status_matchers.h"
#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::cache_upkeep_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::ElementsAre;
using testing::entry_in;
using testing::entry_name;
using testing::files_in;
using testing::folders_in;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::key_of;
using testing::LocklessFileSystem;
using testing::make_older;
using testing::payload_in;
using testing::publish_sample;
using ::testing::UnorderedElementsAre;

// The entries `a`, `b` and `c`, last used three, two and one hours ago, all of the same size.
class CacheUpkeep : public ::testing::Test {
 protected:
  void SetUp() override {
    const CacheStore unlimited({.folder = dir_.path()});
    int hours = 3;
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_THAT(publish_sample(unlimited, key_of(name)), IsOk());
      make_older(entry(name), hours--);
    }
    entry_bytes_ = testing::items_in(dir_.path()).front().bytes;
    ASSERT_GT(entry_bytes_, 0U);
  }

  [[nodiscard]] std::string id(std::string_view name) const { return key_of(name).id; }
  [[nodiscard]] std::string folder(std::string_view name) const { return entry_name(key_of(name)); }
  [[nodiscard]] fs::path entry(std::string_view name) const {
    return entry_in(dir_.path(), key_of(name));
  }
  // A file in a folder of the store.
  void write(const std::string& name, std::string_view content) const {
    dir_.write(std::string(kStoreFolderName) + "/" + name, content);
  }
  [[nodiscard]] fs::path in_store(const std::string& name) const {
    return testing::store_in(dir_.path()) / name;
  }
  // A folder that a dead process left.
  [[nodiscard]] fs::path leave(const std::string& name) const {
    write(name + "/entry/model_ctx.onnx", "half");
    EXPECT_THAT(mark_folder(in_store(name), posix_file_system()), IsOk());
    return in_store(name);
  }
  [[nodiscard]] CacheStoreOptions options(CacheLimits limits = {}) const {
    return {.folder = dir_.path(), .limits = limits};
  }
  [[nodiscard]] CacheStoreOptions room_for(uint64_t entries) const {
    return options({.max_bytes = entries * entry_bytes_ + entry_bytes_ / 2});
  }
  void quarantine(std::string_view name) const {
    const CacheStore store(options());
    const Result<CacheLookup> lookup = store.find(key_of(name));
    ASSERT_THAT(store.quarantine(*lookup->found, Status(StatusCode::kFail, "bad")), IsOk());
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
  ASSERT_THAT(publish_sample(CacheStore(room_for(2)), key_of("d")), IsOk());
  EXPECT_THAT(folders_in(dir_.path()), UnorderedElementsAre(folder("c"), folder("d")));
}

TEST_F(CacheUpkeep, AHitMakesAnEntryRecent) {
  EXPECT_EQ(payload_in(CacheStore(options()), key_of("a")), "payload");
  ASSERT_THAT(evict(room_for(2)), IsOk());
  EXPECT_THAT(folders_in(dir_.path()), UnorderedElementsAre(folder("a"), folder("c")));
}

TEST_F(CacheUpkeep, RemovesWhatWasNotUsedForTooLong) {
  make_older(entry("b"), 49);
  make_older(entry("a"), 47);
  ASSERT_THAT(evict(options({.max_bytes = 0, .max_age_days = 2})), IsOk());
  EXPECT_THAT(folders_in(dir_.path()), UnorderedElementsAre(folder("a"), folder("c")));
}

TEST_F(CacheUpkeep, ZeroAndEndlessLimitsRemoveNothing) {
  make_older(entry("a"), 24 * 10000);
  for (const uint64_t limit : {uint64_t{0}, std::numeric_limits<uint64_t>::max()}) {
    const Result<CacheRemoval> removal = evict(options({limit, limit}));
    ASSERT_THAT(removal, IsOk());
    EXPECT_THAT(removal->removed, IsEmpty());
  }
}

TEST_F(CacheUpkeep, RemovesNothingThatIsInUse) {
  const CacheStore store(options());
  const Result<CacheLookup> used = store.find(key_of("a"));
  make_older(entry("a"), 5);
  const Result<CacheRemoval> evicted = evict(room_for(1));
  ASSERT_THAT(evicted, IsOk());
  ASSERT_EQ(evicted->in_use.size(), 1U);
  EXPECT_EQ(evicted->in_use[0].id, id("a"));
  EXPECT_THAT(folders_in(dir_.path()), ElementsAre(folder("a")));
  ASSERT_THAT(clear(options()), IsOk());
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
}

TEST_F(CacheUpkeep, RemovesWhatIsQuarantinedFirst) {
  quarantine("c");
  ASSERT_THAT(evict(room_for(2)), IsOk());
  EXPECT_THAT(folders_in(dir_.path()), UnorderedElementsAre(folder("a"), folder("b")));
}

TEST_F(CacheUpkeep, PruningAlsoRemovesWhatIsQuarantined) {
  quarantine("b");
  ASSERT_THAT(evict(options()), IsOk());
  EXPECT_EQ(folders_in(dir_.path()).size(), 3U);
  ASSERT_THAT(prune(options()), IsOk());
  EXPECT_THAT(folders_in(dir_.path()), UnorderedElementsAre(folder("a"), folder("c")));
}

TEST_F(CacheUpkeep, ClearingLeavesWhatDoesNotBelongToTheStore) {
  const std::string unmarked = entry_name(key_of("not an entry"));
  write("notes.txt", "mine");
  write(std::string(32, '0') + "/model.onnx", "mine");
  write(unmarked + "/model.onnx", "mine");
  write("ephost-tmp-mine/file", "mine");
  write("ephost-quarantined-" + std::string(32, '1') + "/file", "mine");
  write("ephost-entry-" + std::string(32, '2'), "a file with the name of an entry");
  dir_.write("tmp-1/file", "mine");
  dir_.write(std::string(32, '0') + "/file", "mine");
  const std::vector<std::string> before = files_in(dir_.path());
  quarantine("b");
  const Result<CacheRemoval> removal = clear(options());
  ASSERT_THAT(removal, IsOk());
  EXPECT_EQ(removal->removed.size(), 3U);
  EXPECT_THAT(folders_in(dir_.path()),
              UnorderedElementsAre("notes.txt", std::string(32, '0'), unmarked, "ephost-tmp-mine",
                                   "ephost-quarantined-" + std::string(32, '1'),
                                   "ephost-entry-" + std::string(32, '2')));
  EXPECT_EQ(files_in(in_store(unmarked)).size(), 1U);
  EXPECT_EQ(files_in(dir_.path()), before);
}

TEST_F(CacheUpkeep, FollowsNoLinkWhenItRemoves) {
  const TempDirectory elsewhere;
  elsewhere.write("precious", "mine");
  ASSERT_THAT(mark_folder(elsewhere.path(), posix_file_system()), IsOk());
  fs::create_directory_symlink(elsewhere.path(), entry("a") / "link");
  fs::create_directory_symlink(elsewhere.path(), in_store("ephost-entry-" + std::string(32, '1')));
  fs::create_directory_symlink(elsewhere.path(), in_store("ephost-tmp-link"));
  ASSERT_THAT(clear(options()), IsOk());
  EXPECT_FALSE(fs::exists(entry("a")));
  EXPECT_THAT(files_in(elsewhere.path()), ElementsAre(kFolderMarkerName, "precious"));
}

TEST_F(CacheUpkeep, RemovesTheTemporaryFoldersOfDeadProcessesOnly) {
  const CacheStore store(options());
  const fs::path dead = leave("ephost-tmp-dead");
  const Result<StagedEntry> living = store.stage();
  ASSERT_THAT(living, IsOk());
  ASSERT_THAT(evict(options()), IsOk());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(living->model_path().parent_path()));
}

TEST_F(CacheUpkeep, AHitRemovesTheTemporaryFoldersOfDeadProcesses) {
  const CacheStore store(options());
  const fs::path dead = leave("ephost-tmp-dead");
  const fs::path unmarked = in_store("ephost-tmp-unmarked");
  fs::create_directory(unmarked);
  const Result<StagedEntry> living = store.stage();
  ASSERT_THAT(living, IsOk());
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(unmarked));
  EXPECT_TRUE(fs::exists(living->model_path().parent_path()));
}

TEST_F(CacheUpkeep, AHitDoesNotWaitToClearAway) {
  const fs::path dead = leave("ephost-tmp-dead");
  const Result<FolderLock> held =
      FolderLock::acquire(testing::store_in(dir_.path()), {}, posix_file_system());
  ASSERT_THAT(held, IsOk());
  EXPECT_EQ(payload_in(CacheStore(options()), key_of("a")), "payload");
  EXPECT_TRUE(fs::exists(dead));
}

TEST_F(CacheUpkeep, GoesByAgeWhereThereAreNoLocks) {
  const LocklessFileSystem lockless;
  CacheStoreOptions without_locks = options();
  without_locks.file_system = &lockless;
  const fs::path young = leave("ephost-tmp-young");
  const fs::path old = leave("ephost-tmp-old");
  make_older(old, 25);
  ASSERT_THAT(evict(without_locks), IsOk());
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(CacheUpkeep, VerifyFindsEveryDamagedFile) {
  const auto problems_of = [&] {
    return verify_entry(testing::items_in(dir_.path()).front(), posix_file_system());
  };
  EXPECT_THAT(problems_of(), IsEmpty());
  for (const std::string& name : files_in(entry("a"))) {
    if (name == kFolderMarkerName) continue;  // without it, the folder is not an entry
    SCOPED_TRACE(name);
    const std::string intact = testing::content_of(entry("a") / name);
    std::string damaged = intact;
    damaged[damaged.size() / 2] ^= 1;
    ASSERT_THAT(write_file_atomically(entry("a") / name, as_bytes(damaged)), IsOk());
    make_older(entry("a"), 3);
    EXPECT_EQ(problems_of().size(), 1U);
    fs::remove(entry("a") / name);
    make_older(entry("a"), 3);
    EXPECT_EQ(problems_of().size(), 1U);
    ASSERT_THAT(write_file_atomically(entry("a") / name, as_bytes(intact)), IsOk());
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
  EXPECT_EQ(list_items(options).status().code(), StatusCode::kNoSuchFile);
  EXPECT_EQ(clear(options).status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(prune(options).status().message(), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace ephost::context::cache_upkeep_test
