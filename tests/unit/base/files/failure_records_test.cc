#include "host/base/files/failure_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::failure_records_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Failures : public ::testing::Test {
 protected:
  static FailureRecord record(int64_t time, const std::string& name = "acme") {
    return {time, name, "/plugins/" + name + ".yaml", "1:2:3", "died of SIGSEGV", "/usr/bin/app"};
  }

  const test::TempDirectory directory_;
  const std::filesystem::path file_ = directory_ / "state/ephost/failures";
  const FailureRecords records_{file_};
};

TEST_F(Failures, AreNoneWithoutAFile) {
  EXPECT_THAT(records_.read().records, IsEmpty());
  EXPECT_EQ(records_.read().problem, "");
  EXPECT_EQ(*records_.remove(""), 0U);
}

TEST_F(Failures, AreReadAsTheyWereAdded) {
  FailureRecord odd = record(7);
  odd.what = "said \"a\tb\n%0a\x7f\" \xc3\xa4";
  ASSERT_THAT(records_.add(record(5)), IsOk());
  ASSERT_THAT(records_.add(odd), IsOk());
  const std::vector<FailureRecord> records = records_.read().records;
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].time, 5);
  EXPECT_EQ(records[1].name, "acme");
  EXPECT_EQ(records[1].manifest, "/plugins/acme.yaml");
  EXPECT_EQ(records[1].files, "1:2:3");
  EXPECT_EQ(records[1].what, odd.what);
  EXPECT_EQ(records[1].program, "/usr/bin/app");
}

TEST_F(Failures, AreForThisUserAloneWhateverTheUmaskIs) {
  const auto mode_of = [](const std::filesystem::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777U;
  };
  const mode_t before = ::umask(0);
  const Status added = records_.add(record(5));
  ::umask(before);
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(mode_of(file_), 0600U);
  EXPECT_EQ(mode_of(file_.parent_path()), 0700U);
  EXPECT_EQ(mode_of(file_.parent_path().parent_path()), 0700U);
  EXPECT_EQ(records_.read().problem, "");
  EXPECT_THAT(records_.read().records, SizeIs(1));
}

TEST_F(Failures, AreRemovedByName) {
  ASSERT_THAT(records_.add(record(5)), IsOk());
  ASSERT_THAT(records_.add(record(6, "other")), IsOk());
  EXPECT_EQ(*records_.remove("acme"), 1U);
  ASSERT_THAT(records_.read().records, SizeIs(1));
  EXPECT_EQ(records_.read().records[0].name, "other");
  EXPECT_EQ(*records_.remove(""), 1U);
  EXPECT_THAT(records_.read().records, IsEmpty());
}

TEST_F(Failures, LoseTheOldestOnesWhenThereAreTooMany) {
  std::string text = "ephost failures 1\n";
  for (size_t i = 0; i < FailureRecords::kMostRecords; ++i) {
    text += std::to_string(i) + "\tacme\t/a\t1\t/app\tdied\n";
  }
  directory_.write("state/ephost/failures", text);
  ASSERT_THAT(records_.add(record(1000)), IsOk());
  const std::vector<FailureRecord> records = records_.read().records;
  ASSERT_THAT(records, SizeIs(FailureRecords::kMostRecords));
  EXPECT_EQ(records.front().time, 1);
  EXPECT_EQ(records.back().time, 1000);
}

TEST_F(Failures, StayBelowTheirBytes) {
  FailureRecord large = record(1);
  large.manifest = std::string(FailureRecords::kMostBytes / 3, '\x01');  // three bytes each
  ASSERT_THAT(records_.add(large), IsOk());
  EXPECT_THAT(records_.read().records, IsEmpty());
  EXPECT_EQ(records_.read().problem, "");
  large.manifest = "/a";
  large.what = std::string(100'000, 'x');
  ASSERT_THAT(records_.add(large), IsOk());
  ASSERT_THAT(records_.read().records, SizeIs(1));
  EXPECT_EQ(records_.read().records[0].what.size(), FailureRecords::kMostText);
}

TEST_F(Failures, OfDamagedLinesAreIgnored) {
  directory_.write("state/ephost/failures",
                   "ephost failures 1\n"
                   "1\tacme\t/a\t1\t/app\tdied\n"
                   "x\tacme\t/a\t1\t/app\tdied\n"
                   "99999999999999999999\tacme\t/a\t1\t/app\tdied\n"
                   "2\tacme\t/a\t1\t/app\n"
                   "2\tacme\t/a\t1\t/app\tdied\tagain\n"
                   "2\tacme%0\t/a\t1\t/app\tdied\n"
                   "2\tacme%zz\t/a\t1\t/app\tdied\n"
                   "\n"
                   "3\tacme\t/a\t1\t/app\tdied");
  const FailureRecords::Content content = records_.read();
  ASSERT_THAT(content.records, SizeIs(2));
  EXPECT_EQ(content.records[1].time, 3);
  EXPECT_THAT(content.problem, HasSubstr("7 lines of"));
}

TEST_F(Failures, OfAnotherFileAreIgnored) {
  for (const std::string& text : {std::string("ephost failures 2\n1\tacme\t/a\t1\t/app\tdied\n"),
                                  std::string("\x7f"
                                              "ELF"),
                                  std::string(FailureRecords::kMostBytes + 1, 'x')}) {
    directory_.write("state/ephost/failures", text);
    EXPECT_THAT(records_.read().records, IsEmpty());
    EXPECT_THAT(records_.read().problem, HasSubstr("failures\""));
  }
  ASSERT_THAT(records_.add(record(1)), IsOk());
  EXPECT_THAT(records_.read().records, SizeIs(1));
}

TEST_F(Failures, OfAFileThatOthersCanChangeAreIgnored) {
  ASSERT_THAT(records_.add(record(5)), IsOk());
  std::filesystem::permissions(file_, std::filesystem::perms(0666));
  EXPECT_THAT(records_.read().records, IsEmpty());
  EXPECT_THAT(records_.read().problem, HasSubstr("0666"));
}

TEST_F(Failures, OfSeveralProcessesAreAllKept) {
  constexpr int kProcesses = 8;
  constexpr int kEach = 10;
  for (int i = 0; i < kProcesses; ++i) {
    if (::fork() != 0) continue;
    int failed = 0;
    for (int n = 0; n < kEach; ++n) failed += records_.add(record(i * kEach + n)).ok() ? 0 : 1;
    ::_exit(failed);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(records_.read().records, SizeIs(kProcesses * kEach));
}

TEST_F(Failures, CannotBeKeptWhereThereIsNoFolder) {
  EXPECT_FALSE(FailureRecords("").add(record(1)).ok());
  EXPECT_THAT(FailureRecords("").read().records, IsEmpty());
  directory_.write("file", "");
  const Status status = FailureRecords(directory_ / "file/failures").add(record(1));
  EXPECT_FALSE(status.ok());
}

TEST(FailuresFile, IsInTheFolderForTheStateOfTheUser) {
  const char* const before = ::getenv("XDG_STATE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(FailureRecords::default_file(), "/state/ephost/failures");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  const std::filesystem::path file = FailureRecords::default_file();
  EXPECT_TRUE(file.empty() || file == "/var/lib/ephost/failures" ||
              file.native().ends_with("/.local/state/ephost/failures"));
  before == nullptr ? ::unsetenv("XDG_STATE_HOME") : ::setenv("XDG_STATE_HOME", saved.c_str(), 1);
}

}  // namespace
}  // namespace ephost::failure_records_test
