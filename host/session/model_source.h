// Where a model comes from: a file, or bytes in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "host/base/files/file.h"

namespace ephost::session {

struct ModelSource {
  std::filesystem::path path;                       // empty for a model from memory
  std::optional<std::span<const std::byte>> bytes;  // borrowed
  std::shared_ptr<const MappedFile> file;           // of `path`; null: opened when it is read
};

}  // namespace ephost::session
