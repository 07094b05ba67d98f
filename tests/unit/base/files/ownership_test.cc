#include "host/base/files/ownership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_directory.h"

namespace ephost {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Ownership : public ::testing::Test {
 protected:
  void set_mode(const std::filesystem::path& path, mode_t mode) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }

  const test::TempDirectory directory_;
  const std::filesystem::path file_ = directory_.write("a/b/file", "content");
};

TEST_F(Ownership, IsFineWhereOnlyThisUserAndRootMayWrite) {
  set_mode(directory_ / "a", 0755);
  set_mode(file_, 0600);
  EXPECT_TRUE(check_ownership(file_).ok()) << check_ownership(file_).message();
}

TEST_F(Ownership, IsFineForWhatDoesNotExist) {
  EXPECT_TRUE(check_ownership(directory_ / "none/of/these").ok());
}

TEST_F(Ownership, RefusesAFileThatEverybodyMayWrite) {
  set_mode(file_, 0666);
  const Status status = check_ownership(file_);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("the file \"" + file_.string() + "\""),
                    HasSubstr("can be changed by others"), HasSubstr("has the mode 0666")));
}

TEST_F(Ownership, RefusesAFolderOnTheWay) {
  set_mode(directory_ / "a", 0777);
  EXPECT_THAT(check_ownership(file_).message(),
              HasSubstr("the folder \"" + (directory_ / "a").string() + "\""));
}

TEST_F(Ownership, AcceptsAStickyFolderOnTheWayAndNotAroundTheFile) {
  set_mode(directory_ / "a", 01777);
  EXPECT_TRUE(check_ownership(file_).ok()) << check_ownership(file_).message();
  set_mode(directory_ / "a/b", 01777);
  EXPECT_THAT(check_ownership(file_).message(), HasSubstr("has the mode 1777"));
  EXPECT_FALSE(check_ownership(directory_ / "a/b/./file").ok());
  std::filesystem::create_directory(directory_ / "a/b/c");
  EXPECT_FALSE(check_ownership(directory_ / "a/b/c/../file").ok());
}

TEST_F(Ownership, AcceptsAStickyFolderAroundAFileThatIsUsedAlone) {
  set_mode(directory_ / "a/b", 01777);
  EXPECT_TRUE(check_ownership(file_, FilesBeside::kAreNotUsed).ok());
  EXPECT_FALSE(check_ownership(directory_ / "a/b", FilesBeside::kAreNotUsed).ok());
  set_mode(file_, 0666);
  EXPECT_FALSE(check_ownership(file_, FilesBeside::kAreNotUsed).ok());
  set_mode(file_, 0644);
  set_mode(directory_ / "a/b", 0777);
  EXPECT_FALSE(check_ownership(file_, FilesBeside::kAreNotUsed).ok());
}

TEST_F(Ownership, IsAllowedByTheEnvironment) {
  set_mode(file_, 0666);
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "0", 1);
  const Status refused = check_writers(file_, FilesBeside::kAreUsed);
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
  const Status allowed = check_writers(file_, FilesBeside::kAreUsed);
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("\"" + file_.string() + "\" is not used, because"),
                                       HasSubstr("has the mode 0666"), HasSubstr("chmod go-w"),
                                       HasSubstr("EPHOST_ALLOW_WRITABLE_PLUGINS=1")));
  EXPECT_TRUE(allowed.ok()) << allowed.message();
}

TEST_F(Ownership, AcceptsTheGroupOfTheOwnersNumberAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  set_mode(file_, 0664);
  EXPECT_TRUE(check_ownership(file_).ok());
  ASSERT_EQ(::chown(file_.c_str(), 0, 100), 0);
  set_mode(file_, 0664);
  EXPECT_THAT(check_ownership(file_).message(), HasSubstr("has the mode 0664"));
}

TEST_F(Ownership, RefusesAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown((directory_ / "a/b").c_str(), 65534, 65534), 0);
  const Status status = check_ownership(file_);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the folder \"" + (directory_ / "a/b").string()),
                                      HasSubstr("belongs to the user 65534 (nobody)")));
}

TEST_F(Ownership, FollowsLinksAndLooksAtTheirFolders) {
  std::filesystem::create_directory(directory_ / "open");
  std::filesystem::create_symlink(file_, directory_ / "open/link");
  EXPECT_TRUE(check_ownership(directory_ / "open/link").ok());
  set_mode(directory_ / "open", 0777);
  EXPECT_FALSE(check_ownership(directory_ / "open/link").ok());
  set_mode(directory_ / "open", 0755);
  set_mode(directory_ / "a/b", 0777);
  EXPECT_THAT(check_ownership(directory_ / "open/link").message(), HasSubstr("a/b\""));
}

TEST_F(Ownership, RefusesAnothersLinkInAStickyFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  std::filesystem::create_directory(directory_ / "open");
  set_mode(directory_ / "open", 01777);
  std::filesystem::create_directory_symlink(directory_ / "a", directory_ / "open/link");
  EXPECT_TRUE(check_ownership(directory_ / "open/link/b/file").ok());
  ASSERT_EQ(::lchown((directory_ / "open/link").c_str(), 65534, 65534), 0);
  EXPECT_THAT(check_ownership(directory_ / "open/link/b/file").message(), HasSubstr("the link \""));
}

TEST_F(Ownership, GivesUpOnLinksThatLeadInACircle) {
  std::filesystem::create_symlink("circle", directory_ / "circle");
  EXPECT_THAT(check_ownership(directory_ / "circle").message(), HasSubstr("symbolic links"));
}

}  // namespace
}  // namespace ephost
