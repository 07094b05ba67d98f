// Lists folders. std::filesystem::directory_iterator ends the process where memory runs out while
// it advances (libstdc++ 12), and must not be used in a library for that reason.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace ephost {

// The names in `folder`, sorted, without "." and "..". Those that were read until then if it cannot
// be read to its end; `error` says why, and is cleared otherwise.
[[nodiscard]] std::vector<std::string> list_directory(const std::filesystem::path& folder,
                                                      std::error_code& error);

}  // namespace ephost
