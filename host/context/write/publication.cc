#include "host/context/write/publication.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/temporary_files.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/file_names.h"

namespace ephost::context {

namespace fs = std::filesystem;

Result<ContentChecksum> checksum_of_file(const InputFile& file) {
  EPHOST_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::map(file));
  return ContentChecksum{.hash = content_checksum(mapped.bytes()), .size = mapped.bytes().size()};
}

Result<ContentChecksum> checksum_of_file(const fs::path& path, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path, file_system));
  return checksum_of_file(file);
}

namespace {

// Whether `path` is a superseded form of the file of that name: a regular file whose content has
// the checksum in its name.
bool is_superseded_file(const fs::path& path, std::string_view file_name,
                        const FileSystem& file_system) {
  const std::string candidate = path.filename().native();
  std::error_code ignored;
  if (!is_superseded_name(candidate, file_name) || !fs::is_regular_file(path, ignored))
    return false;
  const Result<ContentChecksum> checksum = checksum_of_file(path, file_system);
  return checksum.ok() && candidate == superseded_name(file_name, to_hex(checksum->hash));
}

}  // namespace

Publication::Publication(fs::path folder, FolderLock lock, const FileSystem& file_system)
    : folder_(std::move(folder)), lock_(std::move(lock)), file_system_(&file_system) {}

Result<Publication> Publication::begin(const fs::path& folder, const LockWait& wait,
                                       const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::acquire(folder, wait, file_system));
  return Publication(folder, std::move(lock), file_system);
}

Publication::~Publication() {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) put_back(*step, true);
}

void Publication::put_back(const Step& step, bool replaced) {
  if (step.old.path.empty()) {
    if (replaced) file_system_->unlink(step.path.c_str());
  } else if (replaced || step.old.moved) {
    file_system_->rename(step.old.path.c_str(), step.path.c_str());
  } else {
    file_system_->unlink(step.old.path.c_str());
  }
}

// With a second link the old file stays readable under its own name until the new file takes its
// place. If the file system has no links, the old file is renamed.
Result<Publication::Aside> Publication::set_aside(const fs::path& path,
                                                  const ContentChecksum& checksum) {
  fs::path aside = path;
  aside.replace_filename(superseded_name(path.filename().native(), to_hex(checksum.hash)));
  if (file_system_->link(path.c_str(), aside.c_str()) == 0) {
    return Aside{.path = std::move(aside), .moved = false};
  }
  if (errno == EEXIST) {
    if (is_superseded_file(aside, path.filename().native(), *file_system_)) {
      return Aside{.path = std::move(aside), .moved = false};
    }
    return Status(StatusCode::kFail,
                  formatted("cannot set aside {}: {} is another file; move it out of the way",
                            quote(path.native()), quote(aside.native())));
  }
  if (file_system_->rename(path.c_str(), aside.c_str()) != 0) {
    return file_error("set aside", path, errno);
  }
  return Aside{.path = std::move(aside), .moved = true};
}

Status Publication::publish(AtomicFile& file, const ContentChecksum& checksum) {
  Step step{.path = file.path()};
  names_.push_back(step.path.filename().native());
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(step.path, ignored).type();
  if (type == fs::file_type::regular || type == fs::file_type::symlink) {
    const Result<ContentChecksum> old = checksum_of_file(step.path, *file_system_);
    // A dangling link protects no content; the commit replaces it.
    if (!old.ok() && old.status().code() != StatusCode::kNoSuchFile) return old.status();
    if (old.ok() && type == fs::file_type::regular && *old == checksum) return {};
    if (old.ok()) {
      EPHOST_ASSIGN_OR_RETURN(step.old, set_aside(step.path, *old));
    }
  }
  Status status = file.commit();
  if (file.temporary_path().empty()) {
    steps_.push_back(std::move(step));
  } else {
    put_back(step, false);
  }
  return status;
}

Status Publication::publish_last(AtomicFile& file) {
  Status status = file.commit();
  const bool renamed = file.temporary_path().empty();
  if (renamed) finish();
  return status;
}

void Publication::finish() {
  for (const Step& step : steps_) {
    if (!step.old.path.empty()) file_system_->unlink(step.old.path.c_str());
  }
  steps_.clear();
  try {
    remove_leftovers();
  } catch (const std::bad_alloc&) {
    // Everything is published. The next publication removes what is left.
  }
}

void Publication::remove_leftovers() {
  std::error_code ignored;
  for (const std::string& candidate : list_directory(folder_, ignored)) {
    const fs::path path = folder_ / candidate;
    const bool superseded = std::any_of(names_.begin(), names_.end(), [&](const auto& name) {
      return is_superseded_file(path, name, *file_system_);
    });
    if (superseded) file_system_->unlink(path.c_str());
  }
  remove_abandoned_temporaries(folder_, *file_system_);
}

}  // namespace ephost::context
