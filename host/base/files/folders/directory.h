// Directory listings. std::filesystem::directory_iterator terminates the process when memory runs
// out while it advances (libstdc++ 12), which a library must not do.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace ephost {

// Returns the names in `folder`, sorted, without "." and "..". If the folder cannot be read to its
// end, returns the names read so far and sets `error` to the reason; otherwise clears `error`.
[[nodiscard]] std::vector<std::string> list_directory(const std::filesystem::path& folder,
                                                      std::error_code& error);
// The same for an open folder; the names read so far if it cannot be read to its end.
[[nodiscard]] std::vector<std::string> list_directory(int folder);

}  // namespace ephost
