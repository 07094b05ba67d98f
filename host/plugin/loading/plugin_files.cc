#include "host/plugin/loading/plugin_files.h"

#include <string>
#include <system_error>

#include "host/base/files/ownership.h"
#include "host/manifest/installation.h"
#include "host/plugin/loading/elf_summary.h"

namespace ephost::plugin {
namespace {

namespace fs = std::filesystem;

// Where the loader may find the file that is listed as `path`: at its canonical path and, if that
// is where a link leads, at the link.
std::vector<fs::path> names_of(const fs::path& canonical, const manifest::Manifest& manifest,
                               const std::string& path) {
  std::vector<fs::path> names = {canonical};
  std::vector<fs::path> bases = {manifest.directory()};
  if (const auto libraries = manifest::library_directory_for(bases.front())) {
    bases.push_back(*libraries);
  }
  for (const fs::path& base : bases) {
    std::error_code error;
    const fs::path folder = fs::canonical((base / path).parent_path(), error);
    if (!error) names.push_back(folder / fs::path(path).filename());
  }
  return names;
}

Status check_hold(const HeldFile& file) {
  return file.is_shared() && !file.is_held() ? unprotected_file(file.file().path()) : Status();
}

}  // namespace

Result<PluginFiles> PluginFiles::open(const manifest::FoundPlugin& plugin) {
  EPHOST_ASSIGN_OR_RETURN(HeldFile library, HeldFile::open(plugin.library));
  const manifest::LibraryEntry* const entry =
      plugin.manifest.library_for(manifest::host_platform());
  const bool has_checksum = entry != nullptr && entry->sha256;
  if (has_checksum) EPHOST_RETURN_IF_ERROR(check_hold(library));
  PluginFiles files(std::move(library), has_checksum);
  EPHOST_RETURN_IF_ERROR(manifest::verify_library_checksum(plugin, files.library().bytes()));
  for (const auto& [path, stated] : plugin.manifest.files) {
    EPHOST_RETURN_IF_ERROR(files.add(plugin.manifest, path, stated));
  }
  std::error_code error;
  const fs::path folder = fs::canonical(plugin.manifest.directory(), error);
  if (!error) files.folders_.push_back(folder);
  files.folders_.push_back(plugin.library.parent_path());
  return files;
}

Status PluginFiles::add(const manifest::Manifest& manifest, const std::string& path,
                        const std::string& stated) {
  EPHOST_ASSIGN_OR_RETURN(const InputFile found, manifest::open_plugin_file(manifest, path));
  EPHOST_RETURN_IF_ERROR(manifest::check_plugin_owner(found.path()));
  EPHOST_ASSIGN_OR_RETURN(HeldFile held, HeldFile::open(found.path()));
  EPHOST_RETURN_IF_ERROR(manifest::verify_plugin_file(manifest, held.file(), stated));
  // No code of other files is loaded; it only matters that no library appears at their paths.
  if (summarize_elf(held.file().bytes()).needed_size == 0) {
    held.release();
  } else {
    EPHOST_RETURN_IF_ERROR(check_hold(held));
  }
  listed_.push_back({names_of(found.path(), manifest, path), std::move(held)});
  return {};
}

Status PluginFiles::check_writers() const {
  EPHOST_RETURN_IF_ERROR(check_ownership(library_path_));
  for (const Listed& one : listed_) {
    EPHOST_RETURN_IF_ERROR(check_ownership(one.file.file().path()));
  }
  return {};
}

LoadTerms PluginFiles::terms(bool listed_only) const {
  LoadTerms terms;
  if (has_checksum_ && library_.is_shared()) terms.shared = &library_;
  for (const Listed& one : listed_) {
    terms.files.push_back({.names = one.names,
                           .file = &one.file.file(),
                           .shared = one.file.is_shared() ? &one.file : nullptr});
  }
  terms.folders = folders_;
  terms.listed_only = listed_only;
  return terms;
}

}  // namespace ephost::plugin
