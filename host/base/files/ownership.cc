#include "host/base/files/ownership.h"

#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "host/base/environment.h"
#include "host/base/files/file_error.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;

std::string user_name(uid_t user) {
  std::array<char, 4096> buffer = {};
  struct passwd entry {};
  struct passwd* found = nullptr;
  const bool known =
      ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  return known ? formatted("{} ({})", user, entry.pw_name) : formatted("{}", user);
}

// The access control list of a file in the kernel's format: a version, then entries, all in
// little-endian order.
struct AccessListEntry {
  uint16_t tag;
  uint16_t permissions;
  uint32_t id;
};
constexpr const char* kAccessList = "system.posix_acl_access";
constexpr uint32_t kAccessListVersion = 2;
constexpr uint16_t kNamedUser = 0x02;
constexpr uint16_t kNamedGroup = 0x08;
constexpr uint16_t kMayWrite = 2;

// Whether an entry lets another user, or a group, write. `size` is what the kernel returned.
bool has_writer(const std::vector<std::byte>& list, ssize_t size) {
  if (size < 0) return errno != ENODATA && errno != EOPNOTSUPP;
  uint32_t version = 0;
  if (static_cast<size_t>(size) < sizeof(version)) return true;
  std::memcpy(&version, list.data(), sizeof(version));
  if (version != kAccessListVersion) return true;
  AccessListEntry entry = {};
  for (size_t at = sizeof(version); at + sizeof(entry) <= static_cast<size_t>(size);
       at += sizeof(entry)) {
    std::memcpy(&entry, list.data() + at, sizeof(entry));
    const bool is_trusted_user =
        entry.tag == kNamedUser && (entry.id == 0 || entry.id == ::geteuid());
    const bool is_named = entry.tag == kNamedUser || entry.tag == kNamedGroup;
    if (is_named && !is_trusted_user && (entry.permissions & kMayWrite) != 0) return true;
  }
  return false;
}

// `read_list` reads the access control list into a buffer, as ::getxattr does.
template <class ReadList>
bool others_may_write(const struct stat& info, const ReadList& read_list) {
  if ((info.st_mode & S_IWOTH) != 0) return true;
  if ((info.st_mode & S_IWGRP) == 0) return false;
  if (info.st_gid != info.st_uid) return true;
  std::vector<std::byte> list(65536);  // the most that the kernel has
  const ssize_t size = read_list(list.data(), list.size());
  return has_writer(list, size);
}

bool is_trusted(uid_t owner, TrustedOwners owners) {
  return owner == 0 || (owners == TrustedOwners::kRootAndThisUser && owner == ::geteuid());
}

std::string_view kind_of(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return "the folder";
  return S_ISLNK(info.st_mode) ? "the link" : "the file";
}

Status refusal(const fs::path& path, const struct stat& info, std::string_view why) {
  return Status(StatusCode::kInvalidArgument,
                formatted("{} {} {}: it belongs to the user {} and has the mode {:04o}",
                          kind_of(info), quote(path.native()), why, user_name(info.st_uid),
                          static_cast<unsigned>(info.st_mode & 07777)));
}

// Walks along a path as the system does.
class Walk {
 public:
  Walk(const fs::path& path, FilesBeside beside, TrustedOwners owners)
      : beside_(beside), owners_(owners) {
    add(path);
  }

  Status finish() {
    EPHOST_RETURN_IF_ERROR(step_to("/"));
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.front());
      rest_.pop_front();
      EPHOST_RETURN_IF_ERROR(step_to(name == ".." ? at_.parent_path() : at_ / name));
    }
    return {};
  }

 private:
  void add(const fs::path& path) {
    std::vector<std::string> names;
    for (const fs::path& name : path) {
      if (name != "" && name != "." && name != "/") names.push_back(name.native());
    }
    rest_.insert(rest_.begin(), names.begin(), names.end());
  }

  Status step_to(const fs::path& next) {
    struct stat info {};
    if (::lstat(next.c_str(), &info) != 0) {
      rest_.clear();
      return errno == ENOENT || errno == ENOTDIR ? Status() : file_error("examine", next, errno);
    }
    if (!is_trusted(info.st_uid, owners_)) {
      return refusal(next, info,
                     owners_ == TrustedOwners::kRootAlone
                         ? "can be changed by somebody other than root"
                         : "can be changed by somebody other than root and this user");
    }
    if (S_ISLNK(info.st_mode)) return follow(next);
    const bool is_sticky_folder = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
    const bool is_on_the_way = rest_.size() > (beside_ == FilesBeside::kAreUsed ? 1 : 0);
    const auto read_list = [&](void* buffer, size_t size) {
      return ::lgetxattr(next.c_str(), kAccessList, buffer, size);
    };
    if (others_may_write(info, read_list) && !(is_sticky_folder && is_on_the_way)) {
      return refusal(next, info, "can be changed by others");
    }
    at_ = next;
    return {};
  }

  Status follow(const fs::path& link) {
    constexpr int kMostLinks = 40;  // as the system has it
    if (++links_ > kMostLinks) return file_error("examine", link, ELOOP);
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    if (error) return file_error("examine", link, error.value());
    if (target.is_absolute()) at_ = "/";
    add(target);
    return {};
  }

  const FilesBeside beside_;
  const TrustedOwners owners_;
  fs::path at_ = "/";
  std::deque<std::string> rest_;
  int links_ = 0;
};

}  // namespace

Status check_ownership(const fs::path& path, FilesBeside beside, TrustedOwners owners) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return file_error("examine", path, error.value());
  return Walk(absolute, beside, owners).finish();
}

bool can_be_written_by_others(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return true;
  if (!is_trusted(info.st_uid, TrustedOwners::kRootAndThisUser)) return true;
  return others_may_write(info, [&](void* buffer, size_t size) {
    return ::fgetxattr(descriptor, kAccessList, buffer, size);
  });
}

bool FileRights::belongs_to(TrustedOwners owners) const { return is_trusted(owner, owners); }

std::optional<FileRights> rights_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileRights{info.st_uid, info.st_mode & 07777};
}

std::optional<FileRights> rights_of(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return std::nullopt;
  return FileRights{info.st_uid, info.st_mode & 07777};
}

Status check_writers(const fs::path& path, FilesBeside beside) {
  const char* const allowed = environment_value("EPHOST_ALLOW_WRITABLE_PLUGINS");
  if (allowed != nullptr && std::string_view(allowed) == "1") return {};
  Status status = check_ownership(path, beside);
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is not used, because {}; give it to root or to yourself and take "
                          "write access from others (chown, chmod go-w), or allow it with "
                          "--allow-writable-plugins or EPHOST_ALLOW_WRITABLE_PLUGINS=1",
                          quote(path.native()), status.message()));
}

}  // namespace ephost
