// The layout of an installation with plugins: manifests in <data>/ephost/plugins, their libraries
// in <lib>/ephost/plugins. Only the way from one folder to another is known from the build, so that
// an installation can be moved as a whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace ephost::manifest {

// Returns where manifests of plugins that were installed with this code lie: the folder for
// manifests of its installation, then ephost/plugins beside the shared library, or in ../lib of the
// program, that the code is in; a build tree and plugins that keep manifest and library together
// have them there. They need not exist. Empty when the system does not tell which file that is.
[[nodiscard]] std::vector<std::filesystem::path> install_directories();

// What install_directories returns for code in `file`.
enum class CodeFile { kProgram, kSharedLibrary };
[[nodiscard]] std::vector<std::filesystem::path> install_directories_of(
    const std::filesystem::path& file, CodeFile kind);

// Returns the file that `address` is mapped from, according to `maps`, the content of
// /proc/<pid>/maps, or nothing.
[[nodiscard]] std::optional<std::filesystem::path> mapped_file(std::string_view maps,
                                                               const void* address);

// Returns the folder for libraries of the installation that a manifest in `folder` belongs to, or
// nothing if `folder` is neither the folder for manifests of an installation nor directly in one.
[[nodiscard]] std::optional<std::filesystem::path> library_directory_for(
    const std::filesystem::path& folder);

}  // namespace ephost::manifest
