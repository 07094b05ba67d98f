// Opens a file by a relative path that an untrusted file states (external data of a model, an
// EPContext binary, a manifest's library) so that it cannot lie outside of the folder it belongs
// to, even if somebody exchanges files and links of that folder meanwhile.
#pragma once

#include <filesystem>
#include <string_view>

#include "ephost/status.h"
#include "host/base/files/file.h"

namespace ephost {

// Why the text of a relative path cannot be accepted (it is empty or absolute, has a `..` component
// or a NUL byte), or nothing.
[[nodiscard]] std::string_view refusal_of_path(std::string_view relative_path);

// The regular file at `relative_path` (UTF-8) below `base_dir`; an empty `base_dir` is the current
// directory. Symbolic links are followed as long as they stay below the folder, relative and
// absolute ones; those on the way to the folder may lead anywhere. The path of the result is
// canonical, and says under which name the file was found.
//
// `refusal` is the code, and the message says why, when the path is empty or absolute, has a `..`
// component or a NUL byte, leaves the folder through a symbolic link, or names a directory, device
// or pipe. `a..b.bin` is a fine name. NO_SUCHFILE when the file or the folder does not exist.
[[nodiscard]] Result<InputFile> open_contained(const std::filesystem::path& base_dir,
                                               std::string_view relative_path, StatusCode refusal,
                                               const FileSystem& file_system = posix_file_system());

}  // namespace ephost
