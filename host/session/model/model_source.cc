#include "host/session/model/model_source.h"

namespace ephost::session {

Status ModelSource::check_unchanged() const {
  if (file != nullptr) EPHOST_RETURN_IF_ERROR(ephost::check_unchanged(file->bytes()));
  for (const auto& [location, content] : external_data) {
    EPHOST_RETURN_IF_ERROR(ephost::check_unchanged(content.bytes));
  }
  return Status::ok_status();
}

ReadSource ReadSource::of(const ModelSource& source,
                          const std::map<std::string, graph::Blob>& external_data) {
  ReadSource read = {.path = source.path, .bytes = source.bytes, .files = {}};
  const auto add = [&](std::span<const std::byte> content) {
    if (std::optional<OpenedFile> file = find_mapped_file(content)) {
      read.files.push_back(*std::move(file));
    }
  };
  if (source.file != nullptr) add(source.file->bytes());
  for (const auto& [location, content] : external_data) add(content.bytes);
  return read;
}

Status ReadSource::check_unchanged() const {
  for (const OpenedFile& file : files) {
    if (!file.is_there()) return changed_meanwhile(file.path);
  }
  return Status::ok_status();
}

Status ReadSource::check_same(const ReadSource& other) const {
  for (size_t i = 0; i < files.size() && i < other.files.size(); ++i) {
    if (!files[i].version.is_same(other.files[i].version)) return changed_meanwhile(files[i].path);
  }
  return files.size() == other.files.size() ? Status::ok_status() : changed_meanwhile(path);
}

}  // namespace ephost::session
