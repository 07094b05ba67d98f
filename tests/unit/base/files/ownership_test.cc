#include "host/base/files/ownership.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "host/base/files/file_descriptor.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::ownership_test {
namespace {

using test::IsOk;
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
  EXPECT_THAT(check_ownership(file_), IsOk());
}

TEST_F(Ownership, IsFineForWhatDoesNotExist) {
  EXPECT_THAT(check_ownership(directory_ / "none/of/these"), IsOk());
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
  EXPECT_THAT(check_ownership(file_), IsOk());
  set_mode(directory_ / "a/b", 01777);
  EXPECT_THAT(check_ownership(file_).message(), HasSubstr("has the mode 1777"));
  EXPECT_EQ(check_ownership(directory_ / "a/b/./file").code(), StatusCode::kInvalidArgument);
  std::filesystem::create_directory(directory_ / "a/b/c");
  EXPECT_EQ(check_ownership(directory_ / "a/b/c/../file").code(), StatusCode::kInvalidArgument);
}

TEST_F(Ownership, AcceptsAStickyFolderAroundAFileThatIsUsedAlone) {
  set_mode(directory_ / "a/b", 01777);
  EXPECT_THAT(check_ownership(file_, FilesBeside::kAreNotUsed), IsOk());
  EXPECT_EQ(check_ownership(directory_ / "a/b", FilesBeside::kAreNotUsed).code(),
            StatusCode::kInvalidArgument);
  set_mode(file_, 0666);
  EXPECT_EQ(check_ownership(file_, FilesBeside::kAreNotUsed).code(), StatusCode::kInvalidArgument);
  set_mode(file_, 0644);
  set_mode(directory_ / "a/b", 0777);
  EXPECT_EQ(check_ownership(file_, FilesBeside::kAreNotUsed).code(), StatusCode::kInvalidArgument);
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
  EXPECT_THAT(allowed, IsOk());
}

TEST_F(Ownership, AcceptsTheGroupOfTheOwnersNumberAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  set_mode(file_, 0664);
  EXPECT_THAT(check_ownership(file_), IsOk());
  ASSERT_EQ(::chown(file_.c_str(), 0, 100), 0);
  set_mode(file_, 0664);
  EXPECT_THAT(check_ownership(file_).message(), HasSubstr("has the mode 0664"));
}

// The access control list user::rw-, ENTRY, group::r--, mask::rw-, other::r--, as the kernel has
// it.
struct AccessList {
  struct Entry {
    uint16_t tag;
    uint16_t permissions;
    uint32_t id;
  };
  static constexpr uint32_t kNobody = 0xffffffff;
  static Entry user(uint32_t id, uint16_t permissions) { return {0x02, permissions, id}; }
  static Entry group(uint32_t id, uint16_t permissions) { return {0x08, permissions, id}; }

  // False where the file system has none.
  [[nodiscard]] bool set_on(const std::filesystem::path& path) const {
    return ::setxattr(path.c_str(), "system.posix_acl_access", this, sizeof(*this), 0) == 0 ||
           errno != EOPNOTSUPP;
  }

  uint32_t version = 2;
  Entry owner = {0x01, 6, kNobody};
  // The kernel wants them in the order of their tags.
  Entry second = {0x04, 4, kNobody};
  Entry third = {0x04, 4, kNobody};
  Entry mask = {0x10, 6, kNobody};
  Entry others = {0x20, 4, kNobody};
};

bool is_open_to_others(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return can_be_written_by_others(file.get());
}

TEST_F(Ownership, RefusesWhatAnAccessControlListLetsOthersWrite) {
  set_mode(file_, 0644);
  EXPECT_FALSE(is_open_to_others(file_));
  for (const auto& path : {file_, directory_ / "a"}) {
    const AccessList list{.second = AccessList::user(1234, 6)};
    if (!list.set_on(path)) GTEST_SKIP() << "the file system has no access control lists";
    EXPECT_EQ(check_ownership(file_).code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(is_open_to_others(path), true) << path;
    ASSERT_EQ(::removexattr(path.c_str(), "system.posix_acl_access"), 0);
  }
  EXPECT_TRUE(AccessList{.third = AccessList::group(1234, 6)}.set_on(file_));
  EXPECT_EQ(check_ownership(file_).code(), StatusCode::kInvalidArgument);
}

TEST_F(Ownership, AcceptsAnAccessControlListThatLetsOthersRead) {
  const AccessList list{.second = AccessList::user(1234, 4)};
  if (!list.set_on(file_)) GTEST_SKIP() << "the file system has no access control lists";
  if (::geteuid() != ::getegid()) GTEST_SKIP() << "the group is not this user's own";
  EXPECT_THAT(check_ownership(file_), IsOk());
  EXPECT_TRUE(AccessList{.second = AccessList::user(::geteuid(), 6)}.set_on(file_));
  EXPECT_THAT(check_ownership(file_), IsOk());
}

TEST_F(Ownership, RefusesAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown((directory_ / "a/b").c_str(), 65534, 65534), 0);
  const Status status = check_ownership(file_);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the folder \"" + (directory_ / "a/b").string()),
                                      HasSubstr("belongs to the user 65534 (nobody)")));
}

TEST_F(Ownership, MayBeLimitedToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chown((directory_ / "a").c_str(), 65534, 65534), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  const Status of_both = check_ownership(file_);
  const Status of_root = check_ownership(file_, FilesBeside::kAreUsed, TrustedOwners::kRootAlone);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(of_both, IsOk());
  EXPECT_THAT(of_root.message(), HasSubstr("can be changed by somebody other than root:"));
}

TEST_F(Ownership, FollowsLinksAndLooksAtTheirFolders) {
  std::filesystem::create_directory(directory_ / "open");
  std::filesystem::create_symlink(file_, directory_ / "open/link");
  EXPECT_THAT(check_ownership(directory_ / "open/link"), IsOk());
  set_mode(directory_ / "open", 0777);
  EXPECT_EQ(check_ownership(directory_ / "open/link").code(), StatusCode::kInvalidArgument);
  set_mode(directory_ / "open", 0755);
  set_mode(directory_ / "a/b", 0777);
  EXPECT_THAT(check_ownership(directory_ / "open/link").message(), HasSubstr("a/b\""));
}

TEST_F(Ownership, RefusesAnothersLinkInAStickyFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  std::filesystem::create_directory(directory_ / "open");
  set_mode(directory_ / "open", 01777);
  std::filesystem::create_directory_symlink(directory_ / "a", directory_ / "open/link");
  EXPECT_THAT(check_ownership(directory_ / "open/link/b/file"), IsOk());
  ASSERT_EQ(::lchown((directory_ / "open/link").c_str(), 65534, 65534), 0);
  EXPECT_THAT(check_ownership(directory_ / "open/link/b/file").message(), HasSubstr("the link \""));
}

TEST_F(Ownership, GivesUpOnLinksThatLeadInACircle) {
  std::filesystem::create_symlink("circle", directory_ / "circle");
  EXPECT_THAT(check_ownership(directory_ / "circle").message(), HasSubstr("symbolic links"));
}

}  // namespace
}  // namespace ephost::ownership_test
