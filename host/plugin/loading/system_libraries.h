// The libraries of the system. Called by loaded_files.h.
#pragma once

#include <filesystem>
#include <vector>

namespace ephost::plugin {

// Where the administrator of the machine has put libraries for everybody: /lib and /usr/lib with
// their variants for other word sizes, and the folders that `configuration` and the files that it
// includes name, which are those of ldconfig.
[[nodiscard]] std::vector<std::filesystem::path> system_library_folders(
    const std::filesystem::path& configuration = "/etc/ld.so.conf");

// Whether the library that the loader has found at `path` lies below one of these folders, both as
// the path says and once the links on the way are followed, and nobody but root and this user can
// change it; EPHOST_ALLOW_WRITABLE_PLUGINS makes no difference. The file itself may be a link that
// leads out of them.
[[nodiscard]] bool is_system_library(const std::filesystem::path& path);

// Whether `path` is `folder` or lies below it, as the names say.
[[nodiscard]] bool lies_below(const std::filesystem::path& folder,
                              const std::filesystem::path& path);

}  // namespace ephost::plugin
