// Whichever file operation fails, wherever a process stops, and however many processes use a store
// at once: an entry that is found is complete, and the store accepts the next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/support/crashing_file_system.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::cache_faults_test {
namespace {

namespace fs = std::filesystem;
using test::CrashingFileSystem;
using test::FaultyFileSystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::entry_name;
using testing::folders_in;
using testing::key_of;
using testing::payload_in;
using testing::publish_sample;

// Does not crash, and does not sync, which would be slow.
const CrashingFileSystem kNeverWaits;

// What a session finds for the key. Expects that the next ones find the same and leave nothing
// else.
void expect_usable(const TempDirectory& dir, const CacheKey& key) {
  const CacheStore store({.folder = dir.path(), .file_system = &kNeverWaits});
  ASSERT_THAT(payload_in(store, key), AnyOf("none", "payload"));
  ASSERT_THAT(publish_sample(store, key), IsOk());
  ASSERT_EQ(payload_in(store, key), "payload");
  ASSERT_THAT(folders_in(dir.path()), ElementsAre(entry_name(key)));
}

TEST(CacheStoreFaults, EveryFailureLeavesAStoreThatWorks) {
  const CacheKey key = key_of("a");
  for (const int error : {EIO, ENOSPC}) {
    for (int operation = 0;; ++operation) {
      SCOPED_TRACE(operation);
      const TempDirectory dir;
      FaultyFileSystem faulty;
      faulty.fail_at = operation;
      faulty.error = error;
      faulty.skips_syncs = true;
      static_cast<void>(
          publish_sample(CacheStore({.folder = dir.path(), .file_system = &faulty}), key));
      ASSERT_NO_FATAL_FAILURE(expect_usable(dir, key));
      if (faulty.operations() <= operation) break;
    }
  }
}

TEST(CacheStoreFaults, EveryFailureWhileReadingIsAMissOrAnError) {
  const CacheKey key = key_of("a");
  for (int operation = 0;; ++operation) {
    SCOPED_TRACE(operation);
    const TempDirectory dir;
    ASSERT_THAT(
        publish_sample(CacheStore({.folder = dir.path(), .file_system = &kNeverWaits}), key),
        IsOk());
    FaultyFileSystem faulty;
    faulty.fail_at = operation;
    const CacheStore store({.folder = dir.path(), .file_system = &faulty});
    const Result<CacheLookup> lookup = store.find(key);
    // A failing disk says nothing about the entry.
    ASSERT_TRUE(!lookup.ok() || lookup->damage.ok());
    ASSERT_THAT(folders_in(dir.path()), ElementsAre(entry_name(key)));
    if (faulty.operations() <= operation) break;
  }
}

TEST(CacheStoreFaults, EveryFailureWhileLookingForRelatedEntriesOnlyCostsTheirContexts) {
  const CacheKey key = testing::key_of_host("a", "1");
  for (int operation = 0;; ++operation) {
    SCOPED_TRACE(operation);
    const TempDirectory dir;
    ASSERT_THAT(publish_sample(CacheStore({.folder = dir.path(), .file_system = &kNeverWaits}), key,
                               "payload", testing::sample_contexts()),
                IsOk());
    FaultyFileSystem faulty;
    faulty.fail_at = operation;
    const CacheStore store({.folder = dir.path(), .file_system = &faulty});
    Result<std::vector<FoundEntry>> related = store.find_related(key_of("a"));
    if (related.ok() && !related->empty()) {
      const Status opened = store.open_model(related->front());
      EXPECT_FALSE(is_damage(opened)) << opened.to_string();
    }
    ASSERT_THAT(folders_in(dir.path()), ElementsAre(entry_name(key)));
    if (faulty.operations() <= operation) break;
  }
}

TEST(CacheStoreFaults, EveryCrashLeavesAStoreThatWorks) {
  const CacheKey key = key_of("a");
  for (int change = 0;; ++change) {
    SCOPED_TRACE(change);
    const TempDirectory dir;
    CrashingFileSystem crashing;
    crashing.crash_at = change;
    static_cast<void>(
        publish_sample(CacheStore({.folder = dir.path(), .file_system = &crashing}), key));
    ASSERT_NO_FATAL_FAILURE(expect_usable(dir, key));
    if (crashing.changes() <= change) break;
  }
}

TEST(CacheStoreFaults, EveryCrashWhileRemovingLeavesAStoreThatWorks) {
  const CacheKey key = key_of("a");
  for (int change = 0;; ++change) {
    SCOPED_TRACE(change);
    const TempDirectory dir;
    ASSERT_THAT(
        publish_sample(CacheStore({.folder = dir.path(), .file_system = &kNeverWaits}), key),
        IsOk());
    CrashingFileSystem crashing;
    crashing.crash_at = change;
    static_cast<void>(clear({.folder = dir.path(), .file_system = &crashing}));
    ASSERT_NO_FATAL_FAILURE(expect_usable(dir, key));
    if (crashing.changes() <= change) break;
  }
}

// Another process may quarantine or remove an entry at any moment.
TEST(CacheStoreFaults, AnEntryThatIsMovedAwayWhileItIsReadIsAMiss) {
  const CacheKey key = key_of("a");
  for (int operation = 0;; ++operation) {
    SCOPED_TRACE(operation);
    const TempDirectory dir;
    ASSERT_THAT(publish_sample(CacheStore({.folder = dir.path()}), key), IsOk());
    FaultyFileSystem faulty;
    faulty.fail_at = operation;
    faulty.event = [&] {
      fs::rename(testing::entry_in(dir.path(), key), dir.path() / "elsewhere");
    };
    const Result<CacheLookup> lookup =
        CacheStore({.folder = dir.path(), .file_system = &faulty}).find(key);
    ASSERT_THAT(lookup, IsOk());
    EXPECT_THAT(lookup->damage, IsOk());
    if (faulty.operations() <= operation) break;
  }
}

// Repeatedly publishes and looks up a few keys, with room for only some of them, and sometimes
// quarantines one. Returns what went wrong.
std::string use_for_a_while(const fs::path& folder, unsigned seed) {
  const CacheStore store({.folder = folder, .limits = {.max_bytes = 12'000}});
  for (unsigned round = 0; round < 30; ++round) {
    const std::string name(1, static_cast<char>('a' + (seed + round * 7) % 5));
    const CacheKey key = key_of(name);
    const Result<CacheLookup> lookup = store.find(key);
    if (!lookup.ok()) return "finding: " + lookup.status().to_string();
    if (!lookup->damage.ok()) return "damage: " + lookup->damage.to_string();
    if (!lookup->found) {
      if (const Status status = publish_sample(store, key, name); !status.ok()) {
        return status.to_string();
      }
      continue;
    }
    const Result<testing::Loaded> loaded = testing::load_file(lookup->found->model->path());
    if (!loaded.ok()) {
      // Another user may have quarantined it just now; a session would then compile again.
      if (!lookup->found->lease.is_at(lookup->found->folder)) continue;
      return loaded.status().to_string();
    }
    if (loaded->payload_of("first") != name) return "the payload of another key";
    if (round % 10 == 9 && !store.quarantine(*lookup->found, Status(StatusCode::kFail, "x")).ok()) {
      return "quarantining failed";
    }
  }
  return {};
}

// Invariants of the folder after all processes have finished.
void expect_sound(const fs::path& folder) {
  for (const CacheItem& item : testing::items_in(folder)) {
    EXPECT_NE(item.state, CacheItem::State::kTemporary);
    EXPECT_TRUE(verify_entry(item, posix_file_system()).empty());
  }
}

TEST(CacheStoreFaults, ThreadsShareAStore) {
  const TempDirectory dir;
  std::array<std::string, 4> failures;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < failures.size(); ++i) {
    threads.emplace_back([&, i] { failures[i] = use_for_a_while(dir.path(), i); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, ::testing::Each(""));
  expect_sound(dir.path());
}

TEST(CacheStoreFaults, ProcessesShareAStore) {
  const TempDirectory dir;
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string failure = use_for_a_while(dir.path(), i);
      if (!failure.empty()) dir.write("failure", failure);
      ::_exit(failure.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << testing::content_of(dir / "failure");
  }
  expect_sound(dir.path());
}

TEST(CacheStoreFaults, AProcessThatDiesWhileItWritesIsClearedAwayByTheNext) {
  const TempDirectory dir;
  const CacheStore store({.folder = dir.path()});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Result<StagedEntry> staged = store.stage();
    static_cast<void>(testing::write_sample({.output_path = staged->model_path()}));
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(folders_in(dir.path()).size(), 1U);
  ASSERT_NO_FATAL_FAILURE(expect_usable(dir, key_of("a")));
}

}  // namespace
}  // namespace ephost::context::cache_faults_test
