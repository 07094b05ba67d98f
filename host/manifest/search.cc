#include "host/manifest/search.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "host/base/environment.h"
#include "host/base/files/containment/contained_path.h"
#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/ownership.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/manifest/installation.h"
#include "host/manifest/selection.h"
#include "host/manifest/yaml_tree.h"

namespace ephost::manifest {

namespace {

namespace fs = std::filesystem;

// The non-empty elements of a ':'-separated list; none of a null pointer.
std::vector<fs::path> split_paths(const char* text) {
  std::string_view list = text == nullptr ? "" : text;
  std::vector<fs::path> paths;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

class DirectoryList {
 public:
  void add(const fs::path& path, SearchOrigin origin) { directories_.push_back({path, origin}); }

  // The XDG specification requires that relative paths are ignored.
  void add_data(const fs::path& data_directory, SearchOrigin origin) {
    if (data_directory.is_absolute()) add(data_directory / "ephost" / "plugins", origin);
  }

  std::vector<SearchDirectory> take() { return std::move(directories_); }

 private:
  std::vector<SearchDirectory> directories_;
};

// Hidden files, what CMake writes beside a plugin that it builds, and what the conformance kit
// leaves out (NAME.exclusions.yaml).
bool is_never_a_manifest(std::string_view name) {
  return name.starts_with('.') || name == "CMakeFiles" || name.ends_with(".exclusions.yaml");
}

using FileIdentity = std::pair<uint64_t, uint64_t>;  // device and inode

class Search {
 public:
  void visit(const SearchDirectory& directory) {
    std::error_code error;
    const bool wanted =
        directory.origin == SearchOrigin::kGiven || directory.origin == SearchOrigin::kEnvironment;
    if (!wanted && !fs::exists(directory.path, error)) return;
    Listing listing = list(directory.path);
    for (const fs::path& file : listing.manifests) read(file);
    for (const fs::path& folder : listing.folders) {
      for (const fs::path& file : list(folder).manifests) read(file);
    }
  }

  void read(const fs::path& file) {
    const std::optional<FileVersion> version = FileVersion::at(file);
    if (version && !seen_.insert({version->device, version->inode}).second) return;
    const Result<std::string> text = read_file(file, kMaxYamlBytes);
    if (!text.ok()) return skip(file, text.status(), {});
    const Result<YamlNode> document = parse_yaml(*text, file);
    if (!document.ok()) return skip(file, document.status(), identify(*text));
    if (is_selection(*document)) return;
    Status owner = check_plugin_owner(file);
    if (!owner.ok()) return skip(file, std::move(owner), identify(*text));
    Result<Manifest> manifest = read_manifest(*document, file);
    if (!manifest.ok()) return skip(file, manifest.status(), identify(*text));
    Result<fs::path> library = resolve_library(*manifest);
    if (!library.ok()) return skip(file, library.status(), identify(*text));
    owner = check_plugin_owner(*library);
    if (!owner.ok()) return skip(file, std::move(owner), identify(*text));
    auto& plugins = manifest->kind == Kind::kLayer ? result_.layers : result_.found;
    plugins.push_back({std::move(*manifest), std::move(*library), *text});
  }

  SearchResult take() {
    const auto by_name_and_version = [](const FoundPlugin& a, const FoundPlugin& b) {
      const std::string& name = a.manifest.subject();
      const std::string& other = b.manifest.subject();
      return name != other ? name < other : a.manifest.version > b.manifest.version;
    };
    std::ranges::stable_sort(result_.found, by_name_and_version);
    std::ranges::stable_sort(result_.layers, by_name_and_version);
    return std::move(result_);
  }

 private:
  struct Listing {
    std::vector<fs::path> manifests;
    std::vector<fs::path> folders;
  };

  Listing list(const fs::path& directory) {
    Listing listing;
    std::error_code error;
    for (const std::string& name : list_directory(directory, error)) {
      const fs::path path = directory / name;
      if (is_never_a_manifest(name)) continue;
      std::error_code ignored;
      if (fs::is_directory(path, ignored)) {
        listing.folders.push_back(path);
      } else if (path.extension() == ".yaml" || path.extension() == ".yml") {
        listing.manifests.push_back(path);
      }
    }
    if (error) skip(directory, file_error("search the directory", directory, error.value()), {});
    return listing;
  }

  static Result<fs::path> resolve_library(const Manifest& manifest) {
    const LibraryEntry* entry = manifest.library_for(host_platform());
    if (entry == nullptr) {
      std::vector<std::string_view> platforms;
      for (const auto& [platform, library] : manifest.libraries) platforms.push_back(platform);
      return Status(
          StatusCode::kNotFound,
          formatted("wrong platform: {0} has no library for {1}, but only for {2}; "
                    "install the plugin's package for {1}",
                    quote(manifest.file.native()), host_platform(), join(platforms, ", ")));
    }
    EPHOST_ASSIGN_OR_RETURN(const InputFile library, open_plugin_file(manifest, entry->path));
    EPHOST_RETURN_IF_ERROR(check_loader_path(library.path()));
    return library.path();
  }

  void skip(const fs::path& file, Status reason, std::optional<PluginIdentity> identity) {
    result_.skipped.push_back({file, std::move(reason), std::move(identity)});
  }

  std::set<FileIdentity> seen_;
  SearchResult result_;
};

}  // namespace

std::string_view search_origin_name(SearchOrigin origin) {
  switch (origin) {
    case SearchOrigin::kGiven:
      return "given";
    case SearchOrigin::kEnvironment:
      return "EPHOST_PLUGIN_PATH";
    case SearchOrigin::kUser:
      return "user";
    case SearchOrigin::kSystem:
      return "system";
    case SearchOrigin::kInstalled:
      break;
  }
  return "installed with ephost";
}

std::vector<SearchDirectory> search_directories(const SearchRequest& request) {
  DirectoryList list;
  for (const fs::path& path : request.directories) list.add(path, SearchOrigin::kGiven);
  if (request.use_environment) {
    for (const fs::path& path : split_paths(environment_value("EPHOST_PLUGIN_PATH"))) {
      list.add(path, SearchOrigin::kEnvironment);
    }
  }
  if (request.use_data_directories) {
    if (request.use_environment) list.add_data(user_folder(UserFolder::kData), SearchOrigin::kUser);
    const char* directories =
        request.use_environment ? environment_value("XDG_DATA_DIRS") : nullptr;
    if (directories == nullptr || *directories == '\0') directories = "/usr/local/share:/usr/share";
    for (const fs::path& path : split_paths(directories)) {
      list.add_data(path, SearchOrigin::kSystem);
    }
  }
  for (const fs::path& path : request.install_directories) {
    list.add(path, SearchOrigin::kInstalled);
  }
  return list.take();
}

SearchResult find_plugins(const SearchRequest& request) {
  std::vector<SearchDirectory> directories = search_directories(request);
  Search search;
  for (const SearchDirectory& directory : directories) search.visit(directory);
  SearchResult result = search.take();
  result.directories = std::move(directories);
  return result;
}

Result<FoundPlugin> read_plugin(const fs::path& manifest) {
  Search search;
  search.read(manifest);
  SearchResult result = search.take();
  if (!result.found.empty()) return std::move(result.found.front());
  if (!result.layers.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} is the manifest of the layer {}; give that of a provider",
                            quote(manifest.native()), quote(result.layers.front().manifest.name)));
  }
  if (!result.skipped.empty()) return std::move(result.skipped.front().reason);
  return Status(StatusCode::kInvalidArgument,
                quote(manifest.native()) + " is a selection file; give the manifest of a plugin");
}

Status check_plugin_owner(const fs::path& path) {
  return check_writers(path, FilesBeside::kAreUsed);
}

Status check_loader_path(const fs::path& library) {
  if (library.native().find('$') == std::string::npos) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("the path of the library {} contains '$', which the system's loader "
                          "would expand; rename the file or move it to another folder",
                          quote(library.native())));
}

Result<InputFile> open_plugin_file(const Manifest& manifest, std::string_view path) {
  const fs::path folder = manifest.file.parent_path();
  Result<InputFile> file = open_contained(folder, path, StatusCode::kInvalidArgument);
  std::string places = quote((folder / path).native());
  const auto is_missing = [&] { return file.status().code() == StatusCode::kNoSuchFile; };
  if (const auto libraries = library_directory_for(folder); libraries && is_missing()) {
    file = open_contained(*libraries, path, StatusCode::kInvalidArgument);
    places += " or " + quote((*libraries / path).native());
  }
  if (file.ok() || !is_missing()) return file;
  const bool is_library = std::ranges::any_of(
      manifest.libraries, [&](const auto& library) { return library.second.path == path; });
  return Status(StatusCode::kNoSuchFile,
                formatted("the {} {} that {} names is missing; install it as {}",
                          is_library ? "library" : "file", quote(path),
                          quote(manifest.file.native()), places));
}

Status verify_plugin_file(const Manifest& manifest, const MappedFile& file,
                          std::string_view stated) {
  EPHOST_ASSIGN_OR_RETURN(const std::string checksum, sha256_of(file.bytes()));
  if (checksum == stated) return Status::ok_status();
  return Status(
      StatusCode::kInvalidArgument,
      formatted("the file {} has the SHA-256 {}, but the manifest {} states {}; "
                "install all files of the same release",
                quote(file.path().native()), checksum, quote(manifest.file.native()), stated));
}

Status verify_library_checksum(const FoundPlugin& plugin, std::span<const std::byte> library) {
  const LibraryEntry* entry = plugin.manifest.library_for(host_platform());
  if (entry == nullptr || !entry->sha256) return Status::ok_status();
  EPHOST_ASSIGN_OR_RETURN(const std::string checksum, sha256_of(library));
  if (checksum == *entry->sha256) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("the library {} has the SHA-256 {}, but its manifest {} states {}; "
                          "install library and manifest of the same release",
                          quote(plugin.library.native()), checksum,
                          quote(plugin.manifest.file.native()), *entry->sha256));
}

}  // namespace ephost::manifest
