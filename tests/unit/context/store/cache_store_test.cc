#include "host/context/store/cache_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/status_matchers.h"
#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::cache_store_test {
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
using testing::key_of_host;
using testing::LocklessFileSystem;
using testing::make_older;
using testing::payload_in;
using testing::publish_sample;
using testing::sample_contexts;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::string quarantined(const CacheKey& key) { return std::string(kQuarantinePrefix) + key.id; }

// A read-only file system.
class ReadOnlyFileSystem : public PosixFileSystem {
 public:
  int open(const char* path, int flags, mode_t mode) const override {
    return (flags & O_CREAT) != 0 ? refuse() : PosixFileSystem::open(path, flags, mode);
  }
  int rename(const char*, const char*) const override { return refuse(); }
  int unlink(const char*) const override { return refuse(); }
  int mkdir(const char*, mode_t) const override { return refuse(); }
  int rmdir(const char*) const override { return refuse(); }
  int unlinkat(int, const char*, int) const override { return refuse(); }
  int utimensat(const char*, const struct timespec*) const override { return refuse(); }

 private:
  static int refuse() {
    errno = EROFS;
    return -1;
  }
};

TEST(CacheStore, FindsWhatWasPublished) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  ASSERT_THAT(publish_sample(store, key_of("a"), "of a"), IsOk());
  ASSERT_THAT(publish_sample(store, key_of("b"), "of b"), IsOk());
  EXPECT_EQ(payload_in(store, key_of("a")), "of a");
  EXPECT_EQ(payload_in(store, key_of("b")), "of b");
  EXPECT_EQ(payload_in(store, key_of("c")), "none");
  EXPECT_THAT(folders_in(dir.path()),
              UnorderedElementsAre(entry_name(key_of("a")), entry_name(key_of("b"))));
  EXPECT_THAT(files_in(dir.path()), ElementsAre(kStoreFolderName));
  EXPECT_THAT(files_in(entry_in(dir.path(), key_of("a"))),
              ElementsAre("entry.txt", kFolderMarkerName, "initializers.bin", "model_ctx.onnx",
                          "model_test.bin"));
}

TEST(CacheStore, MakesItsFolderForTheFirstEntry) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir / "deep/down/"});
  EXPECT_EQ(payload_in(store, key_of("a")), "none");
  EXPECT_THAT(files_in(dir.path()), IsEmpty());
  ASSERT_THAT(publish_sample(store, key_of("a")), IsOk());
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
}

TEST(CacheStore, RefusesAFileInPlaceOfItsFolder) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.write("file", "mine")});
  EXPECT_THAT(payload_in(store, key_of("a")), HasSubstr("its parent is not a folder"));
  EXPECT_THAT(store.stage().status().message(), HasSubstr((dir / "file").native()));
  EXPECT_EQ(testing::content_of(dir / "file"), "mine");
}

// Where nothing allows what others may change.
class CacheStoreWriters : public ::testing::Test {
 protected:
  CacheStoreWriters() { ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS"); }

  static void let_others_write(const fs::path& path) {
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  }

  const TempDirectory dir_;
  const CacheStore store_{{.folder = dir_ / "cache"}};
};

TEST_F(CacheStoreWriters, MayBeNobodyElse) {
  ASSERT_THAT(publish_sample(store_, key_of("a")), IsOk());
  for (const fs::path& path : {fs::path(dir_ / "cache"), store_.options().store()}) {
    let_others_write(path);
    for (const Status& status : {store_.find(key_of("a")).status(), store_.stage().status(),
                                 store_.find_related(key_of("a")).status()}) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(status.message(), HasSubstr("the folder \"" + path.string() + "\""));
    }
    fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
    EXPECT_EQ(payload_in(store_, key_of("a")), "payload");
  }
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
  let_others_write(dir_ / "cache");
  EXPECT_EQ(payload_in(store_, key_of("a")), "payload");
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
}

TEST_F(CacheStoreWriters, AreExpectedInTheFolderOfTemporaryFiles) {
  fs::create_directory(dir_ / "cache");
  fs::permissions(dir_ / "cache", fs::perms::all | fs::perms::sticky_bit);
  ASSERT_THAT(publish_sample(store_, key_of("a")), IsOk());
  EXPECT_EQ(payload_in(store_, key_of("a")), "payload");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(store_.options().store().c_str(), 65534, 65534), 0);
  EXPECT_THAT(store_.find(key_of("a")).status().message(),
              HasSubstr("belongs to the user 65534 (nobody)"));
}

TEST_F(CacheStoreWriters, OfAnEntryGetItQuarantined) {
  for (const char* const name : {"", "model_test.bin"}) {
    ASSERT_THAT(publish_sample(store_, key_of("a")), IsOk());
    let_others_write(entry_in(dir_ / "cache", key_of("a")) / name);
    const Result<CacheLookup> lookup = store_.find(key_of("a"));
    ASSERT_THAT(lookup, IsOk());
    EXPECT_FALSE(lookup->found);
    EXPECT_THAT(lookup->damage.message(), HasSubstr("can be changed by others"));
  }
}

TEST(CacheStore, KeepsNothingOfAnEntryThatIsNotPublished) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  {
    const Result<StagedEntry> staged = store.stage();
    ASSERT_THAT(staged, IsOk());
    ASSERT_THAT(testing::write_sample({.output_path = staged->model_path()}), IsOk());
    EXPECT_EQ(folders_in(dir.path()).size(), 1U);
  }
  EXPECT_THAT(folders_in(dir.path()), IsEmpty());
}

TEST(CacheStore, KeepsTheFirstOfTwoPublications) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  ASSERT_THAT(publish_sample(store, key_of("a"), "first"), IsOk());
  ASSERT_THAT(publish_sample(store, key_of("a"), "second"), IsOk());
  EXPECT_EQ(payload_in(store, key_of("a")), "first");
  EXPECT_THAT(folders_in(dir.path()), ElementsAre(entry_name(key_of("a"))));
}

TEST(CacheStore, QuarantinesADamagedEntryAndTakesANewOne) {
  const CacheKey key = key_of("a");
  const auto rewrite = [](const fs::path& file, auto change) {
    std::string content = testing::content_of(file);
    change(content);
    ASSERT_THAT(write_file_atomically(file, as_bytes(content)), IsOk());
  };
  const std::vector<std::pair<std::string, std::function<void(const fs::path&)>>> damages = {
      {"no checksum",
       [&](const fs::path& entry) {
         rewrite(entry / "entry.txt", [](std::string& text) { text.resize(text.size() / 2); });
       }},
      {"entry.txt", [](const fs::path& entry) { fs::remove(entry / "entry.txt"); }},
      {"not what was published",
       [&](const fs::path& entry) {
         rewrite(entry / "model_ctx.onnx", [](std::string& bytes) { bytes.back() ^= 1; });
       }},
      {"model_ctx.onnx", [](const fs::path& entry) { fs::remove(entry / "model_ctx.onnx"); }},
      {"describes another key",
       [&](const fs::path& entry) {
         const CacheEntry other{.key_text = key_of("b").text};
         ASSERT_THAT(write_file_atomically(entry / "entry.txt", as_bytes(to_text(other))), IsOk());
       }},
      {"does not list the model",
       [&](const fs::path& entry) {
         const CacheEntry other{.key_text = key.text};
         ASSERT_THAT(write_file_atomically(entry / "entry.txt", as_bytes(to_text(other))), IsOk());
       }},
  };
  for (const auto& [reason, damage] : damages) {
    SCOPED_TRACE(reason);
    const TempDirectory dir;
    const CacheStore store({.folder = dir.path()});
    ASSERT_THAT(publish_sample(store, key), IsOk());
    damage(entry_in(dir.path(), key));
    const Result<CacheLookup> lookup = store.find(key);
    ASSERT_THAT(lookup, IsOk());
    EXPECT_FALSE(lookup->found);
    EXPECT_THAT(lookup->damage.message(), HasSubstr(reason));
    EXPECT_THAT(folders_in(dir.path()), ElementsAre(quarantined(key)));
    EXPECT_THAT(read_reason(testing::store_in(dir.path()) / quarantined(key), posix_file_system()),
                HasSubstr(reason));
    ASSERT_THAT(publish_sample(store, key, "again"), IsOk());
    EXPECT_EQ(payload_in(store, key), "again");
  }
}

TEST(CacheStore, KeepsOneQuarantinedEntryPerKey) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  const CacheKey key = key_of("a");
  for (const char* reason : {"first", "second"}) {
    ASSERT_THAT(publish_sample(store, key), IsOk());
    const Result<CacheLookup> lookup = store.find(key);
    ASSERT_THAT(lookup, IsOk());
    ASSERT_TRUE(lookup->found.has_value());
    ASSERT_THAT(store.quarantine(*lookup->found, Status(StatusCode::kEpFail, reason)), IsOk());
    EXPECT_THAT(folders_in(dir.path()), ElementsAre(quarantined(key)));
    EXPECT_EQ(read_reason(testing::store_in(dir.path()) / quarantined(key), posix_file_system()),
              std::string("EP_FAIL: ") + reason);
  }
}

TEST(CacheStore, DoesNotQuarantineAnEntryThatHasTakenTheBadOnesPlace) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  const CacheKey key = key_of("a");
  ASSERT_THAT(publish_sample(store, key, "bad"), IsOk());
  const Result<CacheLookup> one = store.find(key);
  const Result<CacheLookup> other = store.find(key);
  ASSERT_THAT(store.quarantine(*one->found, Status(StatusCode::kEpFail, "bad")), IsOk());
  ASSERT_THAT(publish_sample(store, key, "good"), IsOk());
  EXPECT_THAT(store.quarantine(*other->found, Status(StatusCode::kEpFail, "bad")), IsOk());
  EXPECT_EQ(payload_in(store, key), "good");
}

TEST(CacheStore, IsReadWhereNothingCanBeWritten) {
  const TempDirectory dir;
  ASSERT_THAT(publish_sample(CacheStore({.folder = dir.path()}), key_of("a")), IsOk());
  ASSERT_THAT(publish_sample(CacheStore({.folder = dir.path()}), key_of("damaged")), IsOk());
  fs::remove(entry_in(dir.path(), key_of("damaged")) / "model_ctx.onnx");
  const ReadOnlyFileSystem read_only;
  const CacheStore store({.folder = dir.path(), .file_system = &read_only});
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
  EXPECT_THAT(publish_sample(store, key_of("b")).message(), HasSubstr("Read-only file system"));
  EXPECT_THAT(store.find(key_of("damaged")).status().message(), HasSubstr("quarantine"));
}

TEST(CacheStore, WorksWithoutLocksWhereThereAreNone) {
  const TempDirectory dir;
  const LocklessFileSystem lockless;
  const CacheStore store({.folder = dir.path(), .file_system = &lockless});
  ASSERT_THAT(publish_sample(store, key_of("a")), IsOk());
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
  EXPECT_THAT(folders_in(dir.path()), ElementsAre(entry_name(key_of("a"))));
}

TEST(CacheStore, GivesUpWaitingForAnotherProcess) {
  const TempDirectory dir;
  const CacheStore store(
      {.folder = dir.path(), .lock_wait = {.timeout = std::chrono::milliseconds(20)}});
  ASSERT_THAT(publish_sample(store, key_of("a")), IsOk());
  const Result<FolderLock> held =
      FolderLock::acquire(testing::store_in(dir.path()), {}, posix_file_system());
  EXPECT_THAT(publish_sample(store, key_of("b")).message(), HasSubstr("has been locked by"));
  EXPECT_EQ(payload_in(store, key_of("a")), "payload");
}

TEST(CacheStore, RefusesAnEntryThatIsLargerThanAllItMayHold) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path(), .limits = {.max_bytes = 100}});
  EXPECT_THAT(publish_sample(store, key_of("a")).message(), HasSubstr("ep.cache_max_bytes"));
  EXPECT_THAT(folders_in(dir.path()), IsEmpty());
}

std::vector<std::string> related_to(const CacheStore& store, const CacheKey& key) {
  const Result<std::vector<FoundEntry>> related = store.find_related(key);
  if (!related.ok()) return {related.status().to_string()};
  std::vector<std::string> ids;
  for (const FoundEntry& entry : *related) ids.push_back(entry.id());
  return ids;
}

TEST(CacheStore, FindsOtherEntriesOfAModelTheMostRecentOneFirst) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  const CacheKey key = key_of_host("a", "3");
  EXPECT_THAT(related_to(store, key), IsEmpty());
  int hours = 3;
  for (const char* version : {"1", "2", "3", "4"}) {
    const CacheKey other = key_of_host("a", version);
    ASSERT_THAT(publish_sample(store, other, "payload", sample_contexts()), IsOk());
    make_older(entry_in(dir.path(), other), hours--);
  }
  ASSERT_THAT(publish_sample(store, key_of("b"), "payload", sample_contexts()), IsOk());
  // An entry of an older host, which does not record what its contexts were made from.
  ASSERT_THAT(publish_sample(store, key_of_host("a", "0")), IsOk());
  EXPECT_THAT(
      related_to(store, key),
      ElementsAre(key_of_host("a", "4").id, key_of_host("a", "2").id, key_of_host("a", "1").id));
}

TEST(CacheStore, ReadsTheModelOfARelatedEntryOnlyWhenAsked) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  const CacheKey other = key_of_host("a", "1");
  ASSERT_THAT(publish_sample(store, other, "payload", sample_contexts()), IsOk());
  Result<std::vector<FoundEntry>> related = store.find_related(key_of("a"));
  ASSERT_THAT(related, IsOk());
  ASSERT_EQ(related->size(), 1U);
  FoundEntry& entry = related->front();
  EXPECT_EQ(entry.stated.contexts, sample_contexts());
  EXPECT_EQ(entry.model, nullptr);
  ASSERT_THAT(store.open_model(entry), IsOk());
  EXPECT_NE(entry.model, nullptr);
  // It is not removed meanwhile, and can be set aside like any other.
  EXPECT_EQ(clear(store.options())->removed.size(), 0U);
  const fs::path model = entry_in(dir.path(), other) / kEntryModelName;
  fs::remove(model);
  dir.write(model.native(), "damaged");
  const Status damage = store.open_model(entry);
  EXPECT_EQ(damage.code(), StatusCode::kInvalidGraph);
  ASSERT_THAT(store.quarantine(entry, damage), IsOk());
  EXPECT_THAT(folders_in(dir.path()), ElementsAre(quarantined(other)));
  EXPECT_THAT(related_to(store, key_of("a")), IsEmpty());
}

TEST(CacheStore, PassesOverRelatedEntriesThatCannotBeRead) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  const auto publish = [&](const char* version) {
    const CacheKey other = key_of_host("a", version);
    EXPECT_THAT(publish_sample(store, other, "payload", sample_contexts()), IsOk());
    return entry_in(dir.path(), other);
  };
  dir.write((publish("damaged") / kEntryFileName).native(), "damaged");
  fs::remove(publish("not described") / kEntryFileName);
  fs::remove(publish("not marked") / kFolderMarkerName);
  fs::rename(publish("renamed"), entry_in(dir.path(), key_of("z")));
  const Result<FolderLock> remover =
      FolderLock::acquire(publish("being removed"), {}, posix_file_system());
  publish("intact");
  EXPECT_THAT(related_to(store, key_of("a")), ElementsAre(key_of_host("a", "intact").id));
}

TEST(CacheStore, LooksAtALimitedNumberOfRelatedEntries) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  for (size_t i = 0; i < kMaxRelatedEntries + 2; ++i) {
    const CacheKey other = key_of_host("a", std::to_string(i));
    ASSERT_THAT(publish_sample(store, other, "payload", sample_contexts()), IsOk());
  }
  EXPECT_EQ(related_to(store, key_of("a")).size(), kMaxRelatedEntries);
}

TEST(CacheStore, RefusesAFileInPlaceOfItsFolderWhereItLooksForRelatedEntries) {
  const TempDirectory dir;
  dir.write(std::string(kStoreFolderName), "mine");
  EXPECT_FALSE(CacheStore({.folder = dir.path()}).find_related(key_of("a")).ok());
}

TEST(CacheStore, MissesAnEntryThatIsBeingRemoved) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  ASSERT_THAT(publish_sample(store, key_of("a")), IsOk());
  const Result<FolderLock> remover =
      FolderLock::acquire(entry_in(dir.path(), key_of("a")), {}, posix_file_system());
  EXPECT_EQ(payload_in(store, key_of("a")), "none");
}

}  // namespace
}  // namespace ephost::context::cache_store_test
