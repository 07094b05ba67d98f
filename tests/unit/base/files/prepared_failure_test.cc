#include "host/base/files/prepared_failure.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <string>

#include "host/base/files/file_descriptor.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::prepared_failure_test {
namespace {

using test::IsOk;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PreparedFailures : public ::testing::Test {
 protected:
  [[nodiscard]] PreparedFailure prepared() const {
    return {records_, {.name = "acme", .manifest = "/a\tb.yaml", .files = "1:2:3"}};
  }
  [[nodiscard]] std::string content() const {
    std::ifstream stream(file_);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  const test::TempDirectory directory_;
  const std::filesystem::path file_ = directory_ / "state/ephost/failures";
  const FailureRecords records_{file_};
};

TEST_F(PreparedFailures, AreReadLikeThoseThatWereAdded) {
  const int64_t before = std::time(nullptr);
  prepared().append("died of SIGSEGV in \"a\tb%\x7f\"");
  ASSERT_THAT(records_.add({5, "other", "/b.yaml", "4", "hung"}), IsOk());
  prepared().append("died of SIGABRT");
  const FailureRecords::Content content = records_.read();
  EXPECT_EQ(content.problem, "");
  ASSERT_THAT(content.records, SizeIs(3));
  const FailureRecord& first = content.records[0];
  EXPECT_GE(first.time, before);
  EXPECT_LE(first.time, std::time(nullptr));
  EXPECT_EQ(first.name, "acme");
  EXPECT_EQ(first.manifest, "/a\tb.yaml");
  EXPECT_EQ(first.files, "1:2:3");
  EXPECT_EQ(first.what, "died of SIGSEGV in \"a?b??\"");
  EXPECT_EQ(content.records[1].what, "hung");
  EXPECT_EQ(content.records[2].what, "died of SIGABRT");
}

TEST_F(PreparedFailures, AreForThisUserAlone) {
  prepared().append("died");
  for (const std::filesystem::path& path : {file_, file_.parent_path(), records_.lock_file()}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(info.st_mode & 0077U, 0U) << path;
  }
}

TEST_F(PreparedFailures, AreCutOffLikeOthers) {
  prepared().append(std::string(1000, 'x'));
  ASSERT_THAT(records_.read().records, SizeIs(1));
  EXPECT_THAT(records_.read().records[0].what, SizeIs(FailureRecords::kMostText));
}

TEST_F(PreparedFailures, DoNotFollowALink) {
  std::filesystem::create_directories(file_.parent_path());
  std::ofstream(directory_ / "mine") << "mine";
  std::filesystem::create_symlink(directory_ / "mine", file_);
  prepared().append("died");
  EXPECT_EQ(content(), "mine");
}

TEST_F(PreparedFailures, DoNotWaitForALock) {
  ASSERT_THAT(records_.add({5, "other", "/b.yaml", "4", "hung"}), IsOk());
  const FileDescriptor lock(::open(records_.lock_file().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  prepared().append("died");
  EXPECT_THAT(records_.read().records, SizeIs(1));
}

TEST_F(PreparedFailures, AreRefusedByAFullFileUntilItIsShortened) {
  const PreparedFailure failure = prepared();
  const std::string what(FailureRecords::kMostText, 'x');
  const std::string last(FailureRecords::kMostText, 'y');
  for (int i = 0; i < 600; ++i) failure.append(what);
  EXPECT_LE(std::filesystem::file_size(file_), FailureRecords::kMostBytes);
  failure.append(last);
  EXPECT_EQ(content().find(last), std::string::npos);
  ASSERT_THAT(records_.shorten(), IsOk());
  EXPECT_THAT(records_.read().records, SizeIs(FailureRecords::kMostRecords));
  failure.append(last);
  EXPECT_EQ(records_.read().problem, "");
  EXPECT_EQ(records_.read().records.back().what, last);
}

TEST_F(PreparedFailures, AreNoneWithoutAFile) {
  PreparedFailure(FailureRecords(""), {.name = "acme"}).append("died");
  EXPECT_THAT(content(), IsEmpty());
}

}  // namespace
}  // namespace ephost::prepared_failure_test
