#include "host/onnx_io/import/external_data.h"

#include <utility>

#include "host/base/checked_math.h"
#include "host/base/files/containment/contained_path.h"
#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"

namespace ephost::onnx_io {

Result<graph::Blob> ExternalData::content(const std::string& location) {
  if (const auto given = buffers_.find(location); given != buffers_.end()) return given->second;
  if (const auto known = mapped_.find(location); known != mapped_.end()) {
    return known->second.content;
  }
  if (!folder_) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("external data is in {}, but the model comes from memory; "
                            "specify the folder of its external data",
                            quote(location)));
  }
  EPHOST_ASSIGN_OR_RETURN(
      const InputFile opened,
      open_contained(*folder_, location, StatusCode::kInvalidGraph, posix_file_system(), linked_));
  EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::map(opened));
  const auto owner = std::make_shared<const MappedFile>(std::move(file));
  graph::Blob blob{.bytes = owner->bytes(), .owner = owner};
  mapped_.emplace(location, Mapped{.path = owner->path(), .content = blob});
  return blob;
}

Result<graph::Blob> ExternalData::find(const ExternalReference& reference, uint64_t needed) {
  EPHOST_ASSIGN_OR_RETURN(graph::Blob blob, content(reference.location));
  EPHOST_RETURN_IF_ERROR(compare(reference, blob.bytes));
  if (reference.length.value_or(needed) != needed) {
    return Status(
        StatusCode::kInvalidGraph,
        formatted("external data in {} has length {}, but its type and shape need {} bytes",
                  quote(reference.location), *reference.length, needed));
  }
  if (!range_fits(reference.offset, needed, blob.bytes.size())) {
    return Status(
        StatusCode::kInvalidGraph,
        formatted("external data of {} bytes at offset {} exceeds {}, which has {} bytes", needed,
                  reference.offset, quote(reference.location), blob.bytes.size()));
  }
  blob.bytes = blob.bytes.subspan(reference.offset, needed);
  return blob;
}

// The whole file is read once, however many tensors have its checksum.
Status ExternalData::compare(const ExternalReference& reference,
                             std::span<const std::byte> content) {
  std::string& digest = digests_[reference.location];
  if (reference.checksum.empty()) return Status::ok_status();
  const std::string stated = ascii_lower(reference.checksum);
  constexpr size_t kDigits = 40;
  if (stated.size() != kDigits ||
      stated.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("external data in {} has the checksum {}, "
                            "which is not a SHA-1 of 40 hexadecimal digits; correct or remove it",
                            quote(reference.location), quote(reference.checksum)));
  }
  if (digest.empty()) {
    EPHOST_ASSIGN_OR_RETURN(digest, sha1_of(content));
  }
  if (digest == stated) return Status::ok_status();
  return Status(StatusCode::kInvalidGraph,
                formatted("external data in {} has the SHA-1 {}, but the model states {}; "
                          "use the file that belongs to the model",
                          quote(reference.location), digest, stated));
}

std::set<std::string> ExternalData::read() const {
  std::set<std::string> locations;
  for (const auto& [location, digest] : digests_) locations.insert(location);
  return locations;
}

std::set<std::string> ExternalData::unchecked() const {
  std::set<std::string> locations;
  for (const auto& [location, digest] : digests_) {
    if (digest.empty()) locations.insert(location);
  }
  return locations;
}

std::shared_ptr<const graph::ExternalLocation> ExternalData::locate(
    const ExternalReference& reference, uint64_t needed) const {
  const auto mapped = mapped_.find(reference.location);
  if (mapped == mapped_.end()) return nullptr;
  return std::make_shared<const graph::ExternalLocation>(
      graph::ExternalLocation{.location = reference.location,
                              .path = mapped->second.path,
                              .offset = reference.offset,
                              .size = needed});
}

std::map<std::string, graph::Blob> ExternalData::contents() const {
  std::map<std::string, graph::Blob> contents = buffers_;
  for (const auto& [location, mapped] : mapped_) contents.emplace(location, mapped.content);
  return contents;
}

}  // namespace ephost::onnx_io
