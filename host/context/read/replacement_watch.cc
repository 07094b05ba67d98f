#include "host/context/read/replacement_watch.h"

#include <utility>

#include "host/base/files/file_version.h"
#include "host/context/write/output_files.h"

namespace ephost::context {

std::optional<ReplacementWatch::State> ReplacementWatch::state_of(
    const std::filesystem::path& path) {
  const std::optional<FileVersion> version = path.empty() ? std::nullopt : FileVersion::at(path);
  if (!version) return std::nullopt;
  return State{static_cast<int64_t>(version->device), static_cast<int64_t>(version->inode),
               version->modified, version->changed};
}

ReplacementWatch::ReplacementWatch(std::filesystem::path model_path)
    : model_path_(std::move(model_path)),
      folder_(model_path_.empty() ? std::filesystem::path() : folder_of(model_path_)),
      model_(state_of(model_path_)),
      folder_state_(state_of(folder_)) {}

bool ReplacementWatch::has_changed() const {
  return model_ != state_of(model_path_) || folder_state_ != state_of(folder_);
}

}  // namespace ephost::context
