// The source of a model: a file, or bytes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "host/base/files/file.h"
#include "host/graph/types.h"

namespace ephost::session {

struct ModelSource {
  std::filesystem::path path;                       // empty for a model from memory
  std::optional<std::span<const std::byte>> bytes;  // borrowed
  std::shared_ptr<const MappedFile> file;           // of `path`; null: opened when it is read
  // External data that is open already, by the location that the model gives.
  std::map<std::string, graph::Blob> external_data = {};
  // For an entry of the cache store: what its signature covers besides its files
  // (caching/store_signatures.h).
  std::string signed_description = {};
};

// What a model was read from, without the files being kept open, for the rare case that it has to
// be read again.
struct ReadSource {
  // The source of a model that is being read.
  [[nodiscard]] static ReadSource of(const ModelSource& source) {
    ReadSource read = {.path = source.path, .bytes = source.bytes};
    std::error_code none;  // a file that is gone differs from what it was
    read.modified = std::filesystem::last_write_time(source.path, none);
    read.size = std::filesystem::file_size(source.path, none);
    return read;
  }
  // Whether the file may have changed since.
  [[nodiscard]] bool has_changed() const {
    const ReadSource now = of({.path = path, .bytes = bytes, .file = nullptr});
    return now.modified != modified || now.size != size;
  }

  std::filesystem::path path;
  std::optional<std::span<const std::byte>> bytes;
  std::filesystem::file_time_type modified;
  std::uintmax_t size = 0;
};

}  // namespace ephost::session
