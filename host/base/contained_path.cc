#include "host/base/contained_path.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "host/base/file_error.h"
#include "host/base/text.h"

namespace ephost {

namespace fs = std::filesystem;

namespace {

bool lies_below(const fs::path& base, const fs::path& path) {
  return std::mismatch(base.begin(), base.end(), path.begin(), path.end()).first == base.end();
}

// A link whose target is missing: where it leads is decided by whoever creates the target later.
bool has_dangling_link(fs::path base, const fs::path& relative) {
  std::error_code error;
  for (const fs::path& part : relative) {
    base /= part;
    const fs::file_status entry = fs::symlink_status(base, error);
    if (fs::is_symlink(entry) && !fs::exists(base, error)) return true;
  }
  return false;
}

// Why the file that the path leads to cannot be accepted, or nothing.
std::string_view refusal_of_file(const fs::path& base, const fs::path& resolved,
                                 std::string_view relative_path) {
  if (!lies_below(base, resolved)) return "a symbolic link leads out of the folder";
  if (has_dangling_link(base, relative_path)) return "it is a symbolic link to a missing file";
  std::error_code error;
  const fs::file_status status = fs::status(resolved, error);
  if (fs::is_directory(status)) return "it is a directory";
  if (fs::exists(status) && !fs::is_regular_file(status)) return "it is no regular file";
  return {};
}

}  // namespace

std::string_view refusal_of_path(std::string_view relative_path) {
  if (relative_path.empty()) return "it is empty";
  if (relative_path.find('\0') != std::string_view::npos) return "it contains a NUL byte";
  const fs::path path(relative_path);
  if (path.is_absolute()) return "it is absolute";
  if (std::find(path.begin(), path.end(), fs::path("..")) != path.end()) {
    return "it has a \"..\" component";
  }
  return {};
}

Result<fs::path> resolve_contained(const fs::path& base_dir, std::string_view relative_path,
                                   StatusCode refusal) {
  const auto refuse = [&](std::string_view reason) {
    return Status(refusal, "the path " + quote(relative_path) + " below " +
                               quote(base_dir.empty() ? "." : base_dir.native()) +
                               " is refused: " + std::string(reason) +
                               "; name a file inside that folder, relative to it");
  };
  if (const std::string_view reason = refusal_of_path(relative_path); !reason.empty()) {
    return refuse(reason);
  }
  std::error_code error;
  const fs::path base = fs::canonical(base_dir.empty() ? fs::path(".") : base_dir, error);
  if (error) return file_error("resolve the folder", base_dir, error.value());
  const fs::path resolved = fs::weakly_canonical(base / relative_path, error);
  if (error) return refuse(error.message());
  if (const std::string_view reason = refusal_of_file(base, resolved, relative_path);
      !reason.empty()) {
    return refuse(reason);
  }
  return resolved;
}

}  // namespace ephost
