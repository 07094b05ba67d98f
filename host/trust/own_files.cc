#include "host/trust/own_files.h"

#include <cerrno>
#include <optional>
#include <system_error>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/ownership.h"
#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::trust {
namespace {

namespace fs = std::filesystem;

TrustedOwners owners_of(Owner owner) {
  return owner == Owner::kRoot ? TrustedOwners::kRootAlone : TrustedOwners::kRootAndThisUser;
}

Status check_owner(const fs::path& path, const FileRights& rights, Owner owner) {
  if (rights.belongs_to(owners_of(owner)) && !rights.others_may_write()) return {};
  return Status(
      StatusCode::kFail,
      formatted("{} decides whom to trust, but others may write it (owner {}, mode {:o}); make it "
                "belong to {} and run \"chmod go-w\" on it",
                quote(path.native()), rights.owner, rights.mode,
                owner == Owner::kRoot ? "root" : "you or root"));
}

// The folders and links on the way to it. No variable of the environment allows others here.
Status check_way(const fs::path& path, Owner owner) {
  Status status = check_ownership(path, FilesBeside::kAreNotUsed, owners_of(owner));
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return Status(StatusCode::kFail,
                formatted("{} decides whom to trust, but {}; take write access from others (chown, "
                          "chmod go-w)",
                          quote(path.native()), status.message()));
}

}  // namespace

Status check_own_folder(const fs::path& folder, Owner owner) {
  const std::optional<FileRights> rights = rights_of(folder);
  if (!rights) return file_error("look at", folder, errno);
  EPHOST_RETURN_IF_ERROR(check_owner(folder, *rights, owner));
  return check_way(folder, owner);
}

Result<std::string> read_own_file(const fs::path& file, Owner owner, size_t max_bytes) {
  const FileSystem& file_system = posix_file_system();
  const int descriptor = file_system.open(file.c_str(), InputFile::kOpenFlags, 0);
  if (descriptor < 0) return file_error("open", file, errno);
  const std::optional<FileRights> rights = rights_of(descriptor);
  EPHOST_ASSIGN_OR_RETURN(InputFile input, InputFile::adopt(file, descriptor, file_system));
  if (!rights) return file_error("look at", file, errno);
  EPHOST_RETURN_IF_ERROR(check_owner(file, *rights, owner));
  EPHOST_RETURN_IF_ERROR(check_way(file, owner));
  std::string content(max_bytes + 1, '\0');
  size_t size = 0;
  while (size < content.size()) {
    EPHOST_ASSIGN_OR_RETURN(const size_t read,
                            input.read(std::as_writable_bytes(std::span(content).subspan(size))));
    if (read == 0) break;
    size += read;
  }
  if (size > max_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has more than {} bytes", quote(file.native()), max_bytes));
  }
  content.resize(size);
  return content;
}

Status write_own_file(const fs::path& file, std::string_view content, mode_t mode) {
  EPHOST_ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::create(file, private_file_system()));
  EPHOST_RETURN_IF_ERROR(output.append(as_bytes(content)));
  std::error_code error;
  fs::permissions(output.temporary_path(), static_cast<fs::perms>(mode), error);
  if (error) return file_error("set the mode of", output.temporary_path(), error.value());
  return output.commit();
}

}  // namespace ephost::trust
