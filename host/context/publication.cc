#include "host/context/publication.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "host/base/file_error.h"
#include "host/context/names.h"

namespace ephost::context {

namespace fs = std::filesystem;

Result<ContentSum> sum_of_file(const fs::path& path, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path, file_system));
  return ContentSum{.hash = content_sum(file.bytes()), .size = file.bytes().size()};
}

Publication::Publication(fs::path folder, FolderLock lock, const FileSystem& file_system)
    : folder_(std::move(folder)), lock_(std::move(lock)), file_system_(&file_system) {}

Result<Publication> Publication::begin(const fs::path& folder, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::acquire(folder, file_system));
  return Publication(folder, std::move(lock), file_system);
}

Publication::~Publication() {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (step->superseded.empty()) {
      file_system_->unlink(step->path.c_str());
    } else {
      file_system_->rename(step->superseded.c_str(), step->path.c_str());
    }
  }
}

Status Publication::publish(AtomicFile& file, const ContentSum& sum) {
  Step step{.path = file.path()};
  names_.push_back(step.path.filename().native());
  std::error_code ignored;
  const fs::file_type old = fs::symlink_status(step.path, ignored).type();
  if (old == fs::file_type::regular || old == fs::file_type::symlink) {
    const Result<ContentSum> old_sum = sum_of_file(step.path, *file_system_);
    // A link to nothing protects no content; the rename below replaces it.
    if (!old_sum.ok() && old_sum.status().code() != StatusCode::kNoSuchFile) {
      return old_sum.status();
    }
    if (old_sum.ok() && old == fs::file_type::regular && *old_sum == sum) return {};
    if (old_sum.ok()) {
      fs::path aside = step.path;
      aside.replace_filename(superseded_name(step.path.filename().native(), to_hex(old_sum->hash)));
      if (file_system_->rename(step.path.c_str(), aside.c_str()) != 0) {
        return file_error("set aside", step.path, errno);
      }
      step.superseded = std::move(aside);
    }
  }
  Status status = file.commit();
  const bool renamed = file.temporary_path().empty();
  if (renamed || !step.superseded.empty()) steps_.push_back(std::move(step));
  return status;
}

Status Publication::publish_last(AtomicFile& file) {
  Status status = file.commit();
  const bool renamed = file.temporary_path().empty();
  if (renamed) finish();
  return status;
}

void Publication::finish() {
  steps_.clear();
  std::error_code error;
  fs::directory_iterator entry(folder_, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string candidate = path.filename().native();
    const bool superseded = std::any_of(names_.begin(), names_.end(), [&](const auto& name) {
      return is_superseded_name(candidate, name);
    });
    if (superseded) file_system_->unlink(path.c_str());
  }
}

}  // namespace ephost::context
