#include "host/plugin/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "host/plugin/registry.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin::quarantine_test {
namespace {

using std::chrono::seconds;
using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

class QuarantinedPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = test::copy_fixture("good", directory_ / "plugin");
    plugin_ = test::find_plugin_in(directory_ / "plugin");
  }

  void fail(int times) {
    for (int i = 0; i < times; ++i) quarantine_.record(plugin_, "died of SIGSEGV in compute");
  }

  // Sets the time of every record by so much, as if the clock had been set or time had passed.
  void move_records(int64_t by) {
    const FailureRecords records(file_);
    std::vector<FailureRecord> all = records.read().records;
    ASSERT_THAT(records.remove(""), IsOk());
    for (FailureRecord& record : all) {
      record.time += by;
      ASSERT_THAT(records.add(record), IsOk());
    }
  }

  const test::TempDirectory directory_;
  const std::filesystem::path file_ = directory_ / "state/failures";
  const Quarantine quarantine_{file_, {.failures = 3, .period = seconds(600)}};
  std::filesystem::path library_;
  manifest::FoundPlugin plugin_;
};

TEST_F(QuarantinedPlugin, IsRefusedFromTheThirdFailureOn) {
  fail(2);
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
  fail(1);
  const Status status = quarantine_.check(plugin_);
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("quarantined until 20"), HasSubstr("it failed 3 times in 600 s"),
                    HasSubstr("last it died of SIGSEGV in compute"),
                    HasSubstr("\"ephost quarantine clear fixture\"")));
}

TEST_F(QuarantinedPlugin, IsNotLoadedByTheRegistry) {
  fail(3);
  Registry registry({}, quarantine_);
  const auto refused = registry.load(plugin_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("as \"" + plugin_.manifest.file.string() + "\" says"),
                    HasSubstr("it is quarantined until")));
  EXPECT_EQ(registry.check(plugin_).code(), StatusCode::kEpFail);
  ASSERT_THAT(FailureRecords(file_).remove("fixture"), IsOk());
  EXPECT_THAT(registry.check(plugin_), IsOk());
  const auto loaded = registry.load(plugin_);
  EXPECT_THAT(loaded, IsOk());
}

TEST_F(QuarantinedPlugin, IsUsedWhereNothingCanReplaceIt) {
  fail(3);
  EXPECT_THAT(quarantine_.check(plugin_, Quarantined::kUsed), IsOk());
  Registry registry({}, quarantine_);
  EXPECT_EQ(registry.load(plugin_).status().code(), StatusCode::kEpFail);
  EXPECT_THAT(registry.load(plugin_, SignaturePolicy::kOff, Quarantined::kUsed), IsOk());
}

TEST_F(QuarantinedPlugin, IsFreeWhenTheTimeIsOver) {
  fail(3);
  move_records(-540);
  EXPECT_EQ(quarantine_.check(plugin_).code(), StatusCode::kEpFail);
  move_records(-60);
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, IsFreeInTimeThoughTheClockWasSetBack) {
  fail(3);
  move_records(500);  // they are in the future now
  EXPECT_EQ(quarantine_.check(plugin_).code(), StatusCode::kEpFail);
  move_records(200);
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, IsFreeWhenItsLibraryWasReplaced) {
  fail(3);
  std::filesystem::copy_file(library_, directory_ / "new.so");
  std::filesystem::rename(directory_ / "new.so", library_);
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, IsFreeWhenItsManifestWasChanged) {
  fail(3);
  test::write_bytes(plugin_.manifest.file,
                    test::read_bytes(plugin_.manifest.file) + "# repaired\n");
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, IsFreeWhenAListedFileWasReplaced) {
  directory_.write("plugin/data.bin", "data");
  plugin_.manifest.files["data.bin"] = "any";
  fail(3);
  EXPECT_EQ(quarantine_.check(plugin_).code(), StatusCode::kEpFail);
  directory_.write("new.bin", "data");
  std::filesystem::rename(directory_ / "new.bin", directory_ / "plugin/data.bin");
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, DoesNotAffectOthers) {
  fail(3);
  EXPECT_THAT(quarantine_.check(test::find_fixture("next_version")), IsOk());
}

TEST_F(QuarantinedPlugin, IsKnownByWhateverPathItIsFound) {
  fail(3);
  std::filesystem::create_directory_symlink(directory_ / "plugin", directory_ / "link");
  EXPECT_EQ(quarantine_.check(test::find_plugin_in(directory_ / "link")).code(),
            StatusCode::kEpFail);
}

TEST_F(QuarantinedPlugin, IsNoneWithThePolicyOff) {
  const Quarantine off(file_, {.failures = 0});
  off.record(plugin_, "died");
  EXPECT_FALSE(std::filesystem::exists(file_));
  fail(3);
  EXPECT_THAT(off.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, IsNoneWhereNothingCanBeKept) {
  const Quarantine nowhere("", {});
  for (int i = 0; i < 5; ++i) nowhere.record(plugin_, "died");
  EXPECT_THAT(nowhere.check(plugin_), IsOk());
  const Quarantine blocked(plugin_.manifest.file / "failures", {});
  for (int i = 0; i < 5; ++i) blocked.record(plugin_, "died");
  EXPECT_THAT(blocked.check(plugin_), IsOk());
}

TEST_F(QuarantinedPlugin, IsNoneWithADamagedFile) {
  directory_.write("state/failures", "garbage");
  EXPECT_THAT(quarantine_.check(plugin_), IsOk());
  fail(3);
  EXPECT_EQ(quarantine_.check(plugin_).code(), StatusCode::kEpFail);
}

TEST_F(QuarantinedPlugin, IsNoneWithoutAFileAndAPolicy) {
  const Quarantine none;
  for (int i = 0; i < 5; ++i) none.record(plugin_, "died");
  EXPECT_THAT(none.check(plugin_), IsOk());
}

}  // namespace
}  // namespace ephost::plugin::quarantine_test
