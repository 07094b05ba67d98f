// Resolves a relative path that an untrusted file states (external data of a model, an EPContext
// binary, a manifest's library) so that it cannot lead out of the folder it belongs to.
#pragma once

#include <filesystem>
#include <string_view>

#include "ephost/status.h"

namespace ephost {

// Why the text of a relative path cannot be accepted (it is empty or absolute, has a `..` component
// or a NUL byte), or nothing.
[[nodiscard]] std::string_view refusal_of_path(std::string_view relative_path);

// The canonical path of `relative_path` (UTF-8) below `base_dir`; an empty `base_dir` is the
// current directory. `refusal` is the code, and the message says why, when the path is empty or
// absolute, has a `..` component or a NUL byte, leaves the folder through a symbolic link, or names
// something that exists and is no regular file. `a..b.bin` is a fine name. A file that does not
// exist is not refused here: opening it is. The folder must exist (NO_SUCHFILE).
[[nodiscard]] Result<std::filesystem::path> resolve_contained(const std::filesystem::path& base_dir,
                                                              std::string_view relative_path,
                                                              StatusCode refusal);

}  // namespace ephost
