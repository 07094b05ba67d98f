// Where a model comes from: a file, or bytes in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

namespace ephost::session {

struct ModelSource {
  std::filesystem::path path;                       // empty for a model from memory
  std::optional<std::span<const std::byte>> bytes;  // borrowed
};

}  // namespace ephost::session
