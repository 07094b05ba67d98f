#include "host/trust/sign_manifest.h"

#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/manifest/installation.h"
#include "host/manifest/search.h"
#include "host/manifest/yaml_tree.h"
#include "host/trust/verifier.h"

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
                formatted("the file {} has the SHA-256 {}, but {} gives another one; sign the "
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

// The checksums of the libraries; none if the manifest gives any.
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

// What a search would take for a manifest, however wrong it is. Other YAML files are data.
bool is_manifest(const fs::path& file) {
  if (!is_manifest_name(file)) return false;
  const auto text = read_file(file, manifest::kMaxYamlBytes);
  return text.ok() && (text->starts_with("schema:") || text->find("\nschema:") != text->npos);
}

// What is in the plugin's folders, as `files` names it.
struct FolderContent {
  std::set<std::string> files;   // but for manifests and the signature of the plugin's own
  std::vector<Manifest> others;  // manifests beside the plugin's own, as far as they can be read
  bool is_shared = false;        // there is another manifest
};

class FolderList {
 public:
  explicit FolderList(const Manifest& manifest) : manifest_(manifest) {}

  Result<FolderContent> list() {
    const fs::path folder = manifest_.directory();
    EPHOST_RETURN_IF_ERROR(list_folder(folder, {}, 0));
    const auto libraries = manifest::library_directory_for(folder);
    const manifest::LibraryEntry* const own = manifest_.library_for(manifest::host_platform());
    if (!libraries || own == nullptr) return std::move(content_);
    const fs::path path = fs::path(own->path).lexically_normal();
    std::error_code error;
    const bool is_in_own_folder = std::distance(path.begin(), path.end()) > 1;
    if (is_in_own_folder && !fs::exists(folder / path, error)) {
      EPHOST_RETURN_IF_ERROR(list_folder(*libraries, *path.begin(), 0));
    }
    return std::move(content_);
  }

 private:
  Status list_folder(const fs::path& base, const fs::path& relative, int depth) {
    const fs::path folder = base / relative;
    if (depth > kMaxDepth) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("the folder {} is nested too deep; state \"files\" in the manifest",
                              quote(folder.native())));
    }
    std::error_code error;
    const std::vector<std::string> names = list_directory(folder, error);
    if (error) return file_error("list", folder, error.value());
    for (const std::string& name : names) {
      EPHOST_RETURN_IF_ERROR(add(base, relative / name, depth));
    }
    return {};
  }

  Status add(const fs::path& base, const fs::path& path, int depth) {
    const fs::path file = base / path;
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (fs::is_directory(status)) return list_folder(base, path, depth + 1);
    const fs::path own = fs::path(manifest_.directory()) / manifest_.file.filename();
    if (!fs::is_regular_file(status) || file == own || file == signature_file(own)) return {};
    if (!is_manifest(file)) {
      content_.files.insert(path.native());
      return {};
    }
    content_.is_shared = true;
    auto other = manifest::load_manifest(file);
    if (other.ok()) content_.others.push_back(std::move(*other));
    return {};
  }

  const Manifest& manifest_;
  FolderContent content_;
};

// Removes what other manifests list, and their signatures.
void leave_to_others(FolderContent& content) {
  for (const Manifest& other : content.others) {
    content.files.erase(signature_file(other.file).filename().native());
    for (const auto& [platform, library] : other.libraries) content.files.erase(library.path);
    for (const auto& [path, checksum] : other.files) content.files.erase(path);
  }
}

// Removes what the manifest gives a checksum for.
void leave_out_covered(const Manifest& manifest, std::set<std::string>& files) {
  for (const auto& [platform, library] : manifest.libraries) {
    if (library.sha256) files.erase(fs::path(library.path).lexically_normal().native());
  }
  for (const auto& [path, checksum] : manifest.files) {
    files.erase(fs::path(path).lexically_normal().native());
  }
}

Result<Checksums> checksums_of(const Manifest& manifest, const std::set<std::string>& files) {
  Checksums checksums;
  for (const std::string& path : files) {
    EPHOST_ASSIGN_OR_RETURN(checksums[path], checksum_of(manifest, path));
  }
  return checksums;
}

std::string entry_text(std::string_view key, const Checksums& checksums) {
  std::string text = formatted("{}:\n", key);
  for (const auto& [name, sha256] : checksums) {
    std::string quoted = "'";
    for (const char one : name) quoted += one == '\'' ? std::string("''") : std::string(1, one);
    text += formatted("  {}': {}\n", quoted, sha256);
  }
  return text;
}

// Compares the checksums in `files` with the files.
Status check_stated_files(const Manifest& manifest) {
  for (const auto& [path, stated] : manifest.files) {
    EPHOST_ASSIGN_OR_RETURN(const std::string found, checksum_of(manifest, path));
    if (found != stated) return differs(manifest, path, found);
  }
  return {};
}

void add_entry(std::string_view key, const Checksums& checksums, CompletedManifest& out) {
  if (checksums.empty()) return;
  if (!out.text.empty() && out.text.back() != '\n') out.text += '\n';
  out.text += entry_text(key, checksums);
  out.added.emplace_back(key);
}

Result<Manifest> parse_completed(const CompletedManifest& completed, const fs::path& file) {
  auto parsed = manifest::parse_manifest(completed.text, file);
  if (parsed.ok()) return parsed;
  return Status(
      StatusCode::kInvalidArgument,
      formatted("the keys {} cannot be added to {}, as its last lines do not allow it; "
                "write them there yourself: {}",
                join(completed.added, ", "), quote(file.native()), parsed.status().message()));
}

}  // namespace

Result<CompletedManifest> complete_manifest(const fs::path& file) {
  CompletedManifest completed;
  EPHOST_ASSIGN_OR_RETURN(completed.text, read_file(file, manifest::kMaxYamlBytes));
  EPHOST_ASSIGN_OR_RETURN(const Manifest read, manifest::parse_manifest(completed.text, file));
  EPHOST_ASSIGN_OR_RETURN(const Checksums libraries, missing_library_checksums(read));
  add_entry("sha256", libraries, completed);
  EPHOST_ASSIGN_OR_RETURN(completed.manifest, parse_completed(completed, file));
  EPHOST_ASSIGN_OR_RETURN(FolderContent content, FolderList(read).list());
  leave_to_others(content);
  leave_out_covered(completed.manifest, content.files);
  EPHOST_RETURN_IF_ERROR(check_stated_files(read));
  if (read.files.empty() && !content.is_shared) {
    // Libraries get their checksum in `sha256` or not at all.
    std::set<std::string> files = content.files;
    for (const auto& [platform, library] : read.libraries) files.erase(library.path);
    EPHOST_ASSIGN_OR_RETURN(const Checksums checksums, checksums_of(read, files));
    add_entry("files", checksums, completed);
    EPHOST_ASSIGN_OR_RETURN(completed.manifest, parse_completed(completed, file));
    leave_out_covered(completed.manifest, content.files);
  }
  completed.uncovered.assign(content.files.begin(), content.files.end());
  return completed;
}

}  // namespace ephost::trust
