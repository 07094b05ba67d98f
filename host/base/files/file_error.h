// The wording and code of failed file operations, shared by the units behind
// host/base/files/file.h.
#pragma once

#include <ephost/status.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {

// Formats "cannot <verb> "<path>": <text of error>"; the code is NO_SUCHFILE when part of the path
// is missing, and OUT_OF_MEMORY for want of memory.
[[nodiscard]] inline Status file_error(std::string_view verb, const std::filesystem::path& path,
                                       int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  const StatusCode other = error == ENOMEM ? StatusCode::kOutOfMemory : StatusCode::kFail;
  return Status(missing ? StatusCode::kNoSuchFile : other,
                formatted("cannot {} {}: {}", verb, quote(path.native()),
                          std::generic_category().message(error)));
}

// The system would cut a path off at a NUL byte, so that it would name another file.
[[nodiscard]] inline Status check_file_path(const std::filesystem::path& path) {
  if (path.native().find('\0') == std::string::npos) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                "the path " + quote(path.native()) + " contains a NUL byte; remove it");
}

}  // namespace ephost
