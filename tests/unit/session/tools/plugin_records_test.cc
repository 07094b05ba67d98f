#include "host/session/tools/plugin_records.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "host/base/hash.h"
#include "host/session/tools/description_codec.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::session::plugin_records_test {
namespace {

namespace fs = std::filesystem;
using manifest::Isolation;
using test::IsOk;

class Records : public ::testing::Test {
 protected:
  Records() {
    plugin_.manifest.file = folder_.write("acme.yaml", "name: acme");
    plugin_.manifest.name = "acme";
    plugin_.library = folder_.write("libacme.so", "library");
    plugin_.text = "name: acme";
    program_ = folder_.write("ephost-worker", "program");
  }

  // As if the files were old enough.
  [[nodiscard]] PluginRecords::Subject subject(Isolation level = Isolation::kWorker,
                                               bool listed_only = false) const {
    PluginRecords::Subject subject = records_.subject_of(
        plugin_, {.level = level, .program = program_, .listed_only = listed_only});
    subject.is_settled = true;
    return subject;
  }

  [[nodiscard]] worker::IsolationOptions in_worker() const {
    return {.level = Isolation::kWorker, .program = program_};
  }

  void remember() const {
    records_.remember(subject(), subject(),
                      PluginDescription{.abi_minor = 7, .extensions = {"ephost.run/1"}});
  }

  // Whether what was recorded is found after the change.
  [[nodiscard]] bool survives(const std::function<void()>& change) const {
    remember();
    EXPECT_TRUE(records_.find(subject()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the file system
    change();
    return records_.find(subject()).has_value();
  }

  void rewrite(const std::function<void(std::string& content)>& change) const {
    const fs::path file = subject().file;
    std::ifstream stream(file, std::ios::binary);
    std::string content(std::istreambuf_iterator<char>(stream), {});
    stream.close();
    change(content);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
  }

  const ephost::test::TempDirectory folder_;
  manifest::FoundPlugin plugin_;
  fs::path program_;
  const PluginRecords records_{folder_ / "cache" / "plugins"};
};

TEST_F(Records, AreFoundAgainWithTheirTime) {
  EXPECT_FALSE(records_.find(subject()));
  remember();
  const auto found = records_.find(subject());
  ASSERT_TRUE(found && found->ok());
  EXPECT_EQ((*found)->abi_minor, 7);
  EXPECT_EQ((*found)->extensions, std::vector<std::string>{"ephost.run/1"});
  EXPECT_NEAR(static_cast<double>((*found)->recorded_time), static_cast<double>(std::time(nullptr)),
              60);
  EXPECT_TRUE(survives([] {}));
}

TEST_F(Records, OfAPluginThatCouldNotBeLoadedSayWhy) {
  records_.remember(subject(), subject(), Status(StatusCode::kEpFail, "no symbol"));
  const auto found = records_.find(subject());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status().code(), StatusCode::kEpFail);
  EXPECT_EQ(found->status().message(), "no symbol");
}

TEST_F(Records, HoldForOneIsolation) {
  remember();
  EXPECT_FALSE(records_.find(subject(Isolation::kSandbox)));
}

TEST_F(Records, HoldForOneRuleForLibraries) {
  remember();
  EXPECT_FALSE(records_.find(subject(Isolation::kWorker, true)));
  records_.remember(subject(Isolation::kWorker, true), subject(Isolation::kWorker, true),
                    Status(StatusCode::kEpFail, "not listed"));
  EXPECT_THAT(*records_.find(subject()), IsOk()) << "both are kept";
}

TEST_F(Records, HoldUntilAFileChanges) {
  for (const char* const file : {"acme.yaml", "libacme.so", "ephost-worker"}) {
    EXPECT_FALSE(survives([&] { static_cast<void>(folder_.write(file, "changed")); })) << file;
  }
  // A change that keeps the size and the time of modification.
  EXPECT_FALSE(survives([&] {
    const auto time = fs::last_write_time(plugin_.library);
    static_cast<void>(folder_.write("libacme.so", "CHANGED"));
    fs::last_write_time(plugin_.library, time);
  }));
  EXPECT_FALSE(survives([&] { fs::remove(plugin_.library); }));
}

TEST_F(Records, HoldUntilAListedFileChanges) {
  plugin_.manifest.files["model.bin"] = std::string(64, '0');
  static_cast<void>(folder_.write("model.bin", "one"));
  EXPECT_FALSE(survives([&] { static_cast<void>(folder_.write("model.bin", "two")); }));
}

TEST_F(Records, HoldForOneEnvironment) {
  EXPECT_FALSE(survives([] { ::setenv("ACME_VISIBLE_DEVICES", "1", 1); }));
  EXPECT_FALSE(survives([] { ::unsetenv("ACME_VISIBLE_DEVICES"); }));
  EXPECT_TRUE(survives([] { ::setenv("SHLVL", "77", 1); }));
}

TEST_F(Records, HoldForADay) {
  const auto age = [&](int64_t seconds) {
    const std::string dependencies = subject().dependencies;
    const std::string rest = "\n" + std::to_string(dependencies.size()) + "\n" + dependencies +
                             encode_description({.recorded_time = std::time(nullptr) - seconds});
    remember();
    rewrite([&](std::string& content) {
      content = "ephost plugin 1\n" + to_hex(content_checksum(as_bytes(rest))) + rest;
    });
    return records_.find(subject()).has_value();
  };
  EXPECT_TRUE(age(60));
  EXPECT_FALSE(age(PluginRecords::kLongestSeconds + 60));
  EXPECT_FALSE(age(-3600));  // the clock was set back
}

TEST_F(Records, AreNotMadeOfFilesThatHaveJustChanged) {
  const PluginRecords::Subject fresh = records_.subject_of(plugin_, in_worker());
  EXPECT_FALSE(fresh.is_settled);
  records_.remember(fresh, fresh, PluginDescription());
  EXPECT_FALSE(records_.find(subject()));
}

TEST_F(Records, AreNotMadeOfFilesThatChangeMeanwhile) {
  const PluginRecords::Subject before = subject();
  static_cast<void>(folder_.write("libacme.so", "another library"));
  records_.remember(before, subject(), PluginDescription());
  EXPECT_FALSE(records_.find(before));
  EXPECT_FALSE(records_.find(subject()));
}

TEST_F(Records, ThatAreDamagedAreNotUsed) {
  EXPECT_FALSE(survives([&] { rewrite([](std::string& content) { content.clear(); }); }));
  EXPECT_FALSE(survives([&] { rewrite([](std::string& content) { content.resize(20); }); }));
  EXPECT_FALSE(survives([&] { rewrite([](std::string& content) { content.pop_back(); }); }));
  EXPECT_FALSE(survives([&] { rewrite([](std::string& content) { content.back() ^= 1; }); }));
  EXPECT_FALSE(survives([&] { rewrite([](std::string& content) { content[14] = '2'; }); }));
  // With the right checksum, too.
  EXPECT_FALSE(survives([&] {
    rewrite([](std::string& content) {
      constexpr size_t kHead = 16 + 32;
      content.pop_back();
      const std::string rest = content.substr(kHead);
      content = content.substr(0, 16) + to_hex(content_checksum(as_bytes(rest))) + rest;
    });
  }));
}

TEST_F(Records, ThatOthersMayChangeAreNotUsed) {
  EXPECT_FALSE(survives([&] { ::chmod(subject().file.c_str(), 0666); }));
  fs::remove(subject().file);
  EXPECT_FALSE(survives([&] { ::chmod((folder_ / "cache/plugins").c_str(), 0777); }));
}

TEST_F(Records, OfManyPluginsMakeRoom) {
  remember();
  for (int i = 0; i < 1100; ++i) {
    static_cast<void>(
        folder_.write("cache/plugins/" + to_hex(Hash128{1, static_cast<uint64_t>(i)}), ""));
  }
  static_cast<void>(folder_.write("cache/plugins/README", ""));
  remember();
  EXPECT_TRUE(records_.find(subject()));
  const auto count = std::distance(fs::directory_iterator(folder_ / "cache/plugins"), {});
  EXPECT_EQ(count, 2);
}

TEST_F(Records, AreKeptNowhereWithoutAFolder) {
  const PluginRecords nowhere;
  PluginRecords::Subject subject = nowhere.subject_of(plugin_, in_worker());
  subject.is_settled = true;
  nowhere.remember(subject, subject, PluginDescription());
  EXPECT_FALSE(nowhere.find(subject));
  // A folder that cannot be made.
  const PluginRecords below(folder_.write("file", "") / "plugins");
  subject = below.subject_of(plugin_, in_worker());
  subject.is_settled = true;
  below.remember(subject, subject, PluginDescription());
  EXPECT_FALSE(below.find(subject));
}

TEST(RecordsFolder, IsInTheUsersCache) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(PluginRecords::default_folder(), "/somewhere/ephost/plugins");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_NE(PluginRecords::default_folder(), "relative/ephost/plugins");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace ephost::session::plugin_records_test
