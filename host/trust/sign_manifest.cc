#include "host/trust/sign_manifest.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "host/base/files/directory.h"
#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/manifest/search.h"
#include "host/manifest/yaml_tree.h"

namespace ephost::trust {
namespace {

namespace fs = std::filesystem;
using manifest::Manifest;

using Checksums = std::map<std::string, std::string>;

constexpr int kMaxDepth = 16;

Result<std::string> checksum_of(const Manifest& manifest, const std::string& path) {
  EPHOST_ASSIGN_OR_RETURN(const InputFile file, manifest::open_plugin_file(manifest, path));
  EPHOST_ASSIGN_OR_RETURN(const MappedFile content, MappedFile::map(file));
  return sha256_of(content.bytes());
}

Status differs(const Manifest& manifest, const std::string& path, const std::string& found) {
  return Status(StatusCode::kInvalidArgument,
                formatted("the file {} has the SHA-256 {}, but {} states another one; sign the "
                          "release that belongs together, or remove the checksum from the manifest",
                          quote(path), found, quote(manifest.file.native())));
}

// Whether the library is in a package for this machine: those of other platforms may be missing, or
// have the same name in packages of their own.
bool is_here(const Manifest& manifest, std::string_view platform) {
  if (platform == manifest::host_platform()) return true;
  const manifest::LibraryEntry& library = *manifest.library_for(platform);
  const manifest::LibraryEntry* const own = manifest.library_for(manifest::host_platform());
  if (own != nullptr && own->path == library.path) return false;
  return manifest::open_plugin_file(manifest, library.path).ok();
}

// The checksums of the libraries; none if the manifest states any.
Result<Checksums> missing_library_checksums(const Manifest& manifest) {
  Checksums missing;
  bool states_any = false;
  for (const auto& [platform, library] : manifest.libraries) {
    states_any = states_any || library.sha256;
    if (!is_here(manifest, platform)) continue;
    EPHOST_ASSIGN_OR_RETURN(std::string found, checksum_of(manifest, library.path));
    if (library.sha256 && *library.sha256 != found) return differs(manifest, library.path, found);
    missing.emplace(platform, std::move(found));
  }
  return states_any ? Checksums() : missing;
}

bool is_manifest_name(const fs::path& name) {
  return name.extension() == ".yaml" || name.extension() == ".yml";
}

class FolderList {
 public:
  explicit FolderList(const Manifest& manifest) : manifest_(manifest) {
    for (const auto& [platform, library] : manifest.libraries) {
      covered_.insert(fs::path(library.path).lexically_normal());
    }
  }

  // Nothing if another manifest is there.
  Result<std::optional<Checksums>> list() {
    EPHOST_RETURN_IF_ERROR(list_folder({}, 0));
    if (is_shared_) return std::optional<Checksums>();
    return std::optional(std::move(found_));
  }

 private:
  Status list_folder(const fs::path& relative, int depth) {
    const fs::path folder = manifest_.directory() / relative;
    if (depth > kMaxDepth) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("the folder {} is nested too deep; state \"files\" in the manifest",
                              quote(folder.native())));
    }
    std::error_code error;
    const std::vector<std::string> names = list_directory(folder, error);
    if (error) return file_error("list", folder, error.value());
    for (const std::string& name : names) {
      if (!is_shared_) EPHOST_RETURN_IF_ERROR(add(relative / name, depth));
    }
    return {};
  }

  Status add(const fs::path& path, int depth) {
    const fs::path name = path.filename();
    if (name.native().starts_with('.') || name.extension() == ".minisig") return {};
    std::error_code error;
    const fs::file_status status = fs::status(manifest_.directory() / path, error);
    if (fs::is_directory(status)) return list_folder(path, depth + 1);
    if (is_manifest_name(name)) {
      is_shared_ = is_shared_ || path.lexically_normal() != manifest_.file.filename();
      return {};
    }
    if (!fs::is_regular_file(status) || covered_.contains(path.lexically_normal())) return {};
    EPHOST_ASSIGN_OR_RETURN(found_[path.native()], checksum_of(manifest_, path.native()));
    return {};
  }

  const Manifest& manifest_;
  std::set<fs::path> covered_;
  Checksums found_;
  bool is_shared_ = false;
};

std::string entry_text(std::string_view key, const Checksums& checksums) {
  std::string text = formatted("{}:\n", key);
  for (const auto& [name, sha256] : checksums) {
    std::string quoted = "'";
    for (const char one : name) quoted += one == '\'' ? std::string("''") : std::string(1, one);
    text += formatted("  {}': {}\n", quoted, sha256);
  }
  return text;
}

}  // namespace

Result<CompletedManifest> complete_manifest(const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(std::string text, read_file(file, manifest::kMaxYamlBytes));
  EPHOST_ASSIGN_OR_RETURN(const Manifest read, manifest::parse_manifest(text, file));
  CompletedManifest completed;
  if (!text.empty() && text.back() != '\n') text += '\n';
  EPHOST_ASSIGN_OR_RETURN(const Checksums libraries, missing_library_checksums(read));
  if (!libraries.empty()) {
    completed.added.emplace_back("sha256");
    text += entry_text("sha256", libraries);
  }
  if (read.files.empty()) {
    EPHOST_ASSIGN_OR_RETURN(const std::optional<Checksums> files, FolderList(read).list());
    if (files && !files->empty()) {
      completed.added.emplace_back("files");
      text += entry_text("files", *files);
    }
  }
  for (const auto& [path, stated] : read.files) {
    EPHOST_ASSIGN_OR_RETURN(const std::string found, checksum_of(read, path));
    if (found != stated) return differs(read, path, found);
  }
  auto parsed = manifest::parse_manifest(text, file);
  if (!parsed.ok()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("the keys {} cannot be added to {}, as its last lines do not allow it; "
                  "write them there yourself: {}",
                  join(completed.added, ", "), quote(file.native()), parsed.status().message()));
  }
  completed.manifest = std::move(*parsed);
  completed.text = std::move(text);
  return completed;
}

}  // namespace ephost::trust
