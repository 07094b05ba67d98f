// Where a model comes from: a file, or bytes in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/base/files/file.h"
#include "host/graph/types.h"

namespace ephost::session {

struct ModelSource {
  std::filesystem::path path;                       // empty for a model from memory
  std::optional<std::span<const std::byte>> bytes;  // borrowed
  std::shared_ptr<const MappedFile> file;           // of `path`; null: opened when it is read
  // External data that is open already, by the location that the model states.
  std::map<std::string, graph::Blob> external_data = {};
  // Of an entry of the cache store: what its signature covers besides its files
  // (caching/store_signatures.h).
  std::string signed_description = {};
};

}  // namespace ephost::session
