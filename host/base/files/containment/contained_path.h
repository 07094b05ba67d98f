// Safe opening of files by relative paths from untrusted sources (external data of a model, an
// EPContext binary, a manifest's library): a file is guaranteed to lie inside the folder it belongs
// to, even if another process replaces files and links in that folder at the same time.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <span>
#include <string_view>

#include "host/base/files/file.h"

namespace ephost {

// Returns why the text of a relative path cannot be accepted (it is empty or absolute, or has a
// `..` component or a NUL byte), or nothing.
[[nodiscard]] std::string_view refusal_of_path(std::string_view relative_path);

// Opens the regular file at `relative_path` (UTF-8) below `base_dir`; an empty `base_dir` means the
// current directory. Symbolic links, relative or absolute, are followed as long as they stay below
// the folder; links on the way to the folder itself may lead anywhere. The path of the result is
// canonical: it is the name under which the file was found.
//
// Returns the code `refusal`, with a message that says why, when the path is empty or absolute, has
// a `..` component or a NUL byte, leaves the folder through a symbolic link, or names a directory,
// device or pipe. `a..b.bin` is a valid name. Returns NO_SUCHFILE when the file or the folder does
// not exist.
//
// Links may also lead below one of the folders `linked`, which are canonical.
[[nodiscard]] Result<InputFile> open_contained(const std::filesystem::path& base_dir,
                                               std::string_view relative_path, StatusCode refusal,
                                               const FileSystem& file_system = posix_file_system(),
                                               std::span<const std::filesystem::path> linked = {});

}  // namespace ephost
