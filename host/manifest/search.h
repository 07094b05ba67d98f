// The search for installed plugins, which reads manifests only; no plugin is loaded. A manifest
// that is invalid, does not apply here or can be changed by other users is skipped with its reason
// and does not affect others.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/files/file.h"
#include "host/manifest/manifest.h"

namespace ephost::manifest {

struct SearchRequest {
  // Searched first, in this order.
  std::vector<std::filesystem::path> directories;
  // Whether to use EPHOST_PLUGIN_PATH, HOME and the XDG variables. A process with elevated
  // privileges (set-user-id and the like) always ignores them.
  bool use_environment = true;
  // Whether to search the user's and the system's data directories.
  bool use_data_directories = true;
  // Searched last; for example the plugins that were installed with the host.
  std::vector<std::filesystem::path> install_directories;
};

enum class SearchOrigin { kGiven, kEnvironment, kUser, kSystem, kInstalled };

// Returns "given", "EPHOST_PLUGIN_PATH", "user", "system" or "installed with ephost".
[[nodiscard]] std::string_view search_origin_name(SearchOrigin origin);

struct SearchDirectory {
  std::filesystem::path path;
  SearchOrigin origin = SearchOrigin::kGiven;
};

// Returns the directories in search order: the given ones, EPHOST_PLUGIN_PATH (separated by ':'),
// ephost/plugins in $XDG_DATA_HOME (or ~/.local/share) and in each of $XDG_DATA_DIRS (or
// /usr/local/share:/usr/share), and the installed ones. They need not exist.
[[nodiscard]] std::vector<SearchDirectory> search_directories(const SearchRequest& request);

struct FoundPlugin {
  Manifest manifest;
  std::filesystem::path
      library;  // for this platform; canonical, a regular file; where it may lie: SCHEMA.md
  // The content of the manifest as it was read, which a signature may cover.
  std::string text = {};
};

struct SkippedManifest {
  std::filesystem::path file;  // or an unreadable directory
  Status reason;
  std::optional<PluginIdentity> identity;  // as far as it is readable
};

struct SearchResult {
  // The plugins with providers. Sorted by provider, then by version (highest first), then in search
  // order.
  std::vector<FoundPlugin> found;
  // The plugins with layers, likewise, by name.
  std::vector<FoundPlugin> layers;
  std::vector<SkippedManifest> skipped;  // in search order
  std::vector<SearchDirectory> directories;
};

// Reads every *.yaml and *.yml in the directories and their immediate subfolders, each file once
// however it is reached; hidden files and selection files are ignored. A missing directory is
// reported only if it was given or in EPHOST_PLUGIN_PATH.
[[nodiscard]] SearchResult find_plugins(const SearchRequest& request);

// Reads one manifest as a search does. Its failure is the reason why a search would skip the file;
// INVALID_ARGUMENT for a selection file and for the manifest of a layer.
[[nodiscard]] Result<FoundPlugin> read_plugin(const std::filesystem::path& manifest);

// Returns INVALID_ARGUMENT if somebody other than root and this user may change the manifest or
// library at `path`, or a folder on the way to it (host/base/files/ownership.h). The environment
// variable EPHOST_ALLOW_WRITABLE_PLUGINS, set to 1, allows it; a privileged process ignores it.
[[nodiscard]] Status check_plugin_owner(const std::filesystem::path& path);

// Returns INVALID_ARGUMENT if the path has a `$`: the system's loader expands $ORIGIN, $LIB and
// $PLATFORM anywhere in a path, and would load a file other than the one that was found. Call it
// with the complete path, as folders and link targets may have such names too.
[[nodiscard]] Status check_loader_path(const std::filesystem::path& library);

// Returns INVALID_ARGUMENT if the manifest gives a SHA-256 that `library`, the content of the
// plugin's library, does not match. Call it before the library is loaded.
[[nodiscard]] Status verify_library_checksum(const FoundPlugin& plugin,
                                             std::span<const std::byte> library);

// Opens a file that the manifest names: below its directory or, if it is not there, below the
// directory for libraries of its installation (SCHEMA.md). INVALID_ARGUMENT for a path that leads
// out of that; NO_SUCHFILE names all places where the file may be.
[[nodiscard]] Result<InputFile> open_plugin_file(const Manifest& manifest, std::string_view path);

// Returns INVALID_ARGUMENT if `file`, which is one of `Manifest::files`, does not have the SHA-256
// `stated` by the manifest. Call it before the library is loaded.
[[nodiscard]] Status verify_plugin_file(const Manifest& manifest, const MappedFile& file,
                                        std::string_view stated);

}  // namespace ephost::manifest
