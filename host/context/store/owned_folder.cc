#include "host/context/store/owned_folder.h"

#include <cerrno>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/folders/open_folder.h"
#include "host/base/files/temporary_files.h"
#include "host/base/text.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

// The specification of the tag prescribes the first line; the others are for people and for us.
constexpr std::string_view kStoreMarker =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file is a cache directory tag created by ephost.\n"
    "# For information about cache directory tags see https://bford.info/cachedir/\n"
    "# ephost context cache, format 2\n";
constexpr std::string_view kFormatLine = "# ephost context cache, format ";
constexpr std::string_view kStoreFormat = "2";
constexpr uint64_t kMaxMarkerBytes = 4096;

constexpr std::string_view kFolderMarker =
    "This folder belongs to a context cache of ephost, which removes it with all that is in it.\n";

Status no_store(const fs::path& store, std::string_view reason) {
  return Status(StatusCode::kFail,
                "the folder " + quote(store.native()) +
                    " is not a context cache of this ephost: " + std::string(reason) +
                    "; move it away, or choose another folder (ep.cache_dir)");
}

// Whether the folder has the marker of a store in our format. FAIL for any other marker.
Result<bool> read_store_marker(const fs::path& store, const FileSystem& file_system) {
  const Result<std::string> text =
      read_file(store / kStoreMarkerName, kMaxMarkerBytes, file_system);
  if (text.status().code() == StatusCode::kNoSuchFile) return false;
  if (!text.ok()) return text.status();
  const size_t line = text->find(kFormatLine);
  if (line == std::string::npos)
    return no_store(store, "its CACHEDIR.TAG belongs to another program");
  const size_t format = line + kFormatLine.size();
  const std::string stated = text->substr(format, text->find('\n', format) - format);
  if (stated == kStoreFormat) return true;
  return no_store(store, "it has the format " + quote(stated) + ", but this host uses format " +
                             std::string(kStoreFormat));
}

// Temporary files of AtomicFile do not count, as another process may be writing the marker.
Result<bool> holds_nothing(const fs::path& folder) {
  std::error_code error;
  for (const std::string& name : list_directory(folder, error)) {
    if (!is_temporary_name(name)) return false;
  }
  if (error) return file_error("read the folder", folder, error.value());
  return true;
}

bool has_marker(const OpenFolder& folder) {
  return folder.read_start(std::string(kFolderMarkerName), kFolderMarker.size() + 1) ==
         kFolderMarker;
}

}  // namespace

Result<bool> is_store(const fs::path& store, const FileSystem& file_system) {
  EPHOST_RETURN_IF_ERROR(check_file_path(store));
  struct stat info {};
  if (file_system.stat(store.c_str(), &info) != 0) {
    if (errno == ENOENT) return false;
    if (errno == ENOTDIR) return no_store(store, "its parent is not a folder");
    return file_error("look for", store, errno);
  }
  if (!S_ISDIR(info.st_mode)) return no_store(store, "it is not a folder");
  EPHOST_ASSIGN_OR_RETURN(bool has_marker, read_store_marker(store, file_system));
  if (has_marker) return true;
  EPHOST_ASSIGN_OR_RETURN(const bool empty, holds_nothing(store));
  if (empty) return false;
  // Another process may have made it a store, and filled it, between the two checks.
  EPHOST_ASSIGN_OR_RETURN(has_marker, read_store_marker(store, file_system));
  if (has_marker) return true;
  return no_store(store, "it is not empty, and has no CACHEDIR.TAG");
}

Status make_store(const fs::path& store, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(const bool exists, is_store(store, file_system));
  if (exists) return {};
  EPHOST_RETURN_IF_ERROR(make_folders(store, file_system));
  EPHOST_RETURN_IF_ERROR(
      write_file_atomically(store / kStoreMarkerName, as_bytes(kStoreMarker), file_system));
  remove_abandoned_temporaries(store, file_system);
  return {};
}

Status mark_folder(const fs::path& folder, const FileSystem& file_system) {
  return write_file_atomically(folder / kFolderMarkerName, as_bytes(kFolderMarker), file_system);
}

bool is_marked(const fs::path& folder, const FileSystem& file_system) {
  const OpenFolder opened(folder, file_system);
  return opened.is_open() && has_marker(opened);
}

void remove_folder(const fs::path& folder, const FileSystem& file_system) noexcept {
  try {
    const OpenFolder opened(folder, file_system);
    if (!opened.is_open()) return;
    const std::string marker(kFolderMarkerName);
    if (!has_marker(opened)) {
      remove_abandoned_temporaries(folder, file_system);
    } else if (opened.remove_content(marker)) {
      opened.remove_file(marker);
    }
  } catch (const std::bad_alloc&) {  // the rest is removed another time
  }
  file_system.rmdir(folder.c_str());
}

Status make_folders(const fs::path& folder, const FileSystem& file_system) {
  EPHOST_RETURN_IF_ERROR(check_file_path(folder));
  struct stat info {};
  if (file_system.stat(folder.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return {};
    return file_error("use as a folder", folder, ENOTDIR);
  }
  if (errno != ENOENT) return file_error("look for", folder, errno);
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    EPHOST_RETURN_IF_ERROR(make_folders(folder.parent_path(), file_system));
  }
  // A path that ends in a slash has itself as its parent path, which exists by now.
  // Whatever the umask is: a store that others may write to is not used.
  if (file_system.mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return file_error("make the folder", folder, errno);
}

}  // namespace ephost::context
