// Folders that belong to the cache store, as a marker file inside says: nothing else is ever
// removed. The store's own folder has a marker that backup programs know as well
// (https://bford.info/cachedir), each folder in it a marker of its own.
#pragma once

#include <filesystem>
#include <string_view>

#include "ephost/status.h"
#include "host/base/files/file_system.h"

namespace ephost::context {

// Below the folder that the user names.
inline constexpr std::string_view kStoreFolderName = "ephost-context-cache";
inline constexpr std::string_view kStoreMarkerName = "CACHEDIR.TAG";
inline constexpr std::string_view kFolderMarkerName = "ephost-cache-folder";

// Whether `store` is one. False if it is missing, or empty; FAIL if it is something else: no
// folder, not empty and without marker, or of another format.
[[nodiscard]] Result<bool> is_store(const std::filesystem::path& store,
                                    const FileSystem& file_system);

// Makes `store` one, with the folders above it, unless it is. FAIL as above.
[[nodiscard]] Status make_store(const std::filesystem::path& store, const FileSystem& file_system);

// Marks a folder of the store.
[[nodiscard]] Status mark_folder(const std::filesystem::path& folder,
                                 const FileSystem& file_system);

// Whether `folder` itself, and not what a link leads to, is marked.
[[nodiscard]] bool is_marked(const std::filesystem::path& folder, const FileSystem& file_system);

// Removes what can be removed of a marked folder, its marker last; of a folder that is not marked
// only what an interrupted `mark_folder` leaves. Follows no link, and stays in one file system.
void remove_folder(const std::filesystem::path& folder, const FileSystem& file_system) noexcept;

// Makes a folder and those above it where they are missing.
[[nodiscard]] Status make_folders(const std::filesystem::path& folder,
                                  const FileSystem& file_system);

}  // namespace ephost::context
