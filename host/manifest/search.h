// Finds the plugins that are installed, by reading manifests only: nothing is loaded. A manifest
// that is broken or of no use here is skipped with its reason and never takes another down.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/manifest.h"

namespace ephost::manifest {

struct SearchRequest {
  // Searched first, in this order.
  std::vector<std::filesystem::path> directories;
  // EPHOST_PLUGIN_PATH, HOME and the XDG variables. In a process with raised privileges
  // (set-user-id and the like) they are ignored all the same.
  bool use_environment = true;
  // The user's and the system's data directories.
  bool use_data_directories = true;
  // Searched last; e.g. the plugins that were installed with the host.
  std::vector<std::filesystem::path> install_directories;
};

enum class SearchOrigin { kGiven, kEnvironment, kUser, kSystem, kInstalled };

// "given", "EPHOST_PLUGIN_PATH", "user", "system" or "installed with ephost".
[[nodiscard]] std::string_view search_origin_name(SearchOrigin origin);

struct SearchDirectory {
  std::filesystem::path path;
  SearchOrigin origin = SearchOrigin::kGiven;
};

// The directories in the order in which they are searched: those given, EPHOST_PLUGIN_PATH
// (separated by ':'), ephost/plugins in $XDG_DATA_HOME (or ~/.local/share) and in each of
// $XDG_DATA_DIRS (or /usr/local/share:/usr/share), those installed. They need not exist.
[[nodiscard]] std::vector<SearchDirectory> search_directories(const SearchRequest& request);

struct FoundPlugin {
  Manifest manifest;
  std::filesystem::path
      library;  // for this platform; canonical, a regular file, below the manifest
};

struct SkippedManifest {
  std::filesystem::path file;  // or a directory that cannot be read
  Status reason;
  std::optional<PluginIdentity> identity;  // as far as the manifest could be read
};

struct SearchResult {
  // By provider, then highest version first, then in the order of the search.
  std::vector<FoundPlugin> found;
  std::vector<SkippedManifest> skipped;  // in the order of the search
  std::vector<SearchDirectory> directories;
};

// Reads every *.yaml and *.yml in the directories and in their immediate subfolders, each file once
// however it is reached; hidden ones, and selection files, are passed over. A directory that does
// not exist is reported only if it was given or in EPHOST_PLUGIN_PATH.
[[nodiscard]] SearchResult find_plugins(const SearchRequest& request);

// INVALID_ARGUMENT when the path has a `$`: the system's loader expands $ORIGIN, $LIB and $PLATFORM
// anywhere in a path, and would load another file than the one that was found. To be called with
// the whole path, as folders and the targets of links may have such names too.
[[nodiscard]] Status check_loader_path(const std::filesystem::path& library);

// INVALID_ARGUMENT when the manifest states a SHA-256 that `library`, the content of the plugin's
// library, does not have. To be called before the library is loaded.
[[nodiscard]] Status verify_library_checksum(const FoundPlugin& plugin,
                                             std::span<const std::byte> library);

}  // namespace ephost::manifest
