// The wording and code of a failed file operation, shared by the units behind
// host/base/files/file.h.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "ephost/status.h"
#include "host/base/text.h"

namespace ephost {

// "cannot <verb> "<path>": <text of error>", NO_SUCHFILE when part of the path is missing.
[[nodiscard]] inline Status file_error(std::string_view verb, const std::filesystem::path& path,
                                       int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return Status(missing ? StatusCode::kNoSuchFile : StatusCode::kFail,
                "cannot " + std::string(verb) + " " + quote(path.native()) + ": " +
                    std::generic_category().message(error));
}

// A path with a NUL byte would reach the system cut short, and so name another file.
[[nodiscard]] inline Status check_file_path(const std::filesystem::path& path) {
  if (path.native().find('\0') == std::string::npos) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                "the path " + quote(path.native()) + " contains a NUL byte; remove it");
}

}  // namespace ephost
