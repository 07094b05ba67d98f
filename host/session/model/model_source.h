// The source of a model: a file, or bytes in memory.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/mapped_pages.h"
#include "host/graph/types.h"

namespace ephost::session {

struct ModelSource {
  std::filesystem::path path;                       // empty for a model from memory
  std::optional<std::span<const std::byte>> bytes;  // borrowed
  std::shared_ptr<const MappedFile> file;           // of `path`; null: opened when it is read
  // External data that is open already, by the location that the model gives.
  std::map<std::string, graph::Blob> external_data = {};
  // FAIL if a file that is open already was changed in place since.
  [[nodiscard]] Status check_unchanged() const;

  // For an entry of the cache store: what its signature covers besides its files
  // (caching/store_signatures.h).
  std::string signed_description = {};
};

// What a model was read from, without the files being kept open, for the rare case that it has to
// be read again.
struct ReadSource {
  // The source of a model that was read, with its external data by location.
  [[nodiscard]] static ReadSource of(const ModelSource& source,
                                     const std::map<std::string, graph::Blob>& external_data);
  // FAIL if one of the files is not there any more as it was.
  [[nodiscard]] Status check_unchanged() const;
  // FAIL if the other one was read from other files, or other versions of them.
  [[nodiscard]] Status check_same(const ReadSource& other) const;

  std::filesystem::path path;
  std::optional<std::span<const std::byte>> bytes;
  std::vector<OpenedFile> files;
};

}  // namespace ephost::session
