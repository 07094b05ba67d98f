#include "host/context/read/loader.h"

#include <utility>

#include "host/base/files/file.h"
#include "host/context/read/examination.h"
#include "host/onnx_io/import/model_metadata.h"

namespace ephost::context {

Result<LoadedContext> load_context(const graph::Model& model, const LoadOptions& options) {
  Examination examined = examine_context(model, options);
  EPHOST_RETURN_IF_ERROR(first_failure(examined));
  EPHOST_RETURN_IF_ERROR(check_required_checksums(examined, options));
  LoadedContext loaded{.compatibility = std::move(examined.metadata.compatibility)};
  loaded.payloads.reserve(examined.payloads.size());
  for (ExaminedPayload& payload : examined.payloads) {
    loaded.payloads.push_back(std::move(payload.payload));
  }
  loaded.unchecked = std::move(examined.unchecked);
  loaded.pending_checksums = std::move(examined.pending_checksums);
  loaded.partitions.reserve(examined.nodes.size());
  for (ExaminedNode& node : examined.nodes) {
    loaded.partitions.push_back({.place = node.place,
                                 .attributes = std::move(node.attributes),
                                 .payload = node.payload,
                                 .constants = std::move(node.constants)});
  }
  return loaded;
}

const std::string& LoadedContext::compatibility_of(const CachedPayload& payload) const {
  if (!payload.compatibility.empty()) return payload.compatibility;
  const auto stated = compatibility.find(payload.source);
  return stated == compatibility.end() ? payload.compatibility : stated->second;
}

Status LoadedContext::finish_checksums() {
  Status first;
  for (std::future<Status>& checksum : pending_checksums) {
    Status status = checksum.get();
    if (first.ok()) first = std::move(status);
  }
  pending_checksums.clear();
  return first;
}

std::map<std::string, graph::Blob> find_superseded_initializers(const std::filesystem::path& path,
                                                                const LoadOptions& options) {
  const Result<MappedFile> file = MappedFile::open(path, *options.file_system);
  if (!file.ok()) return {};
  return find_superseded_initializers(file->bytes(), options);
}

std::map<std::string, graph::Blob> find_superseded_initializers(std::span<const std::byte> model,
                                                                const LoadOptions& options) {
  std::map<std::string, graph::Blob> found;
  const auto entries = onnx_io::read_model_metadata(model);
  if (!entries.ok()) return found;
  const Result<ContextMetadata> metadata = read_metadata(*entries);
  if (!metadata.ok()) return found;
  PayloadFiles files(options, initializers_folder(options));
  for (const auto& [name, checksum] : metadata->initializers) {
    const Content superseded = files.find_superseded(name, checksum);
    if (superseded.state != ChecksumState::kOk) continue;
    if (files.find_current(name, &checksum).status.ok()) continue;
    found.emplace(name, superseded.bytes);
  }
  return found;
}

}  // namespace ephost::context
