// The bytes of tensors outside the model file: in files below the model's folder, or where a
// hub's cache has them, each mapped once, or in buffers that the caller provides. Used by the
// tensor importer only.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/types.h"

namespace ephost::onnx_io {

// A reference as given in the model; unchecked.
struct ExternalReference {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // nothing: as many bytes as the tensor needs
  std::string checksum;            // of the whole file; empty if none is stated
};

class ExternalData {
 public:
  // `folder` is empty for a model from memory without a given folder. `buffers` must outlive this.
  // Links in the folder may lead below one of the folders `linked`
  // (host/base/files/containment/hub_cache.h).
  ExternalData(std::optional<std::filesystem::path> folder,
               const std::map<std::string, graph::Blob>& buffers,
               std::vector<std::filesystem::path> linked = {})
      : folder_(std::move(folder)), linked_(std::move(linked)), buffers_(buffers) {}

  // Returns the `needed` bytes of a tensor. INVALID_GRAPH if the path leaves the folder, the length
  // or checksum differs, or the file is too short; NO_SUCHFILE if it is missing; INVALID_ARGUMENT
  // if there is no folder.
  Result<graph::Blob> find(const ExternalReference& reference, uint64_t needed);

  // Returns where `find` found the data; null if that was in a buffer.
  [[nodiscard]] std::shared_ptr<const graph::ExternalLocation> locate(
      const ExternalReference& reference, uint64_t needed) const;

  // The content of all opened files and all buffers, by location.
  [[nodiscard]] std::map<std::string, graph::Blob> contents() const;

  // The locations that were requested.
  [[nodiscard]] std::set<std::string> read() const;

  // The locations that were requested, but never with a checksum.
  [[nodiscard]] std::set<std::string> unchecked() const;

 private:
  struct Mapped {
    std::filesystem::path path;
    graph::Blob content;
  };

  Result<graph::Blob> content(const std::string& location);
  Status compare(const ExternalReference& reference, std::span<const std::byte> content);

  std::optional<std::filesystem::path> folder_;
  std::vector<std::filesystem::path> linked_;
  const std::map<std::string, graph::Blob>& buffers_;
  std::map<std::string, Mapped> mapped_;        // by location
  std::map<std::string, std::string> digests_;  // by location; empty: not computed
};

}  // namespace ephost::onnx_io
