// Folders that a marker file inside identifies as part of a cache store; nothing else is ever
// removed. The marker of the store itself is a cache directory tag, which backup programs know
// (https://bford.info/cachedir); each folder in the store has a marker of our own.
#pragma once

#include <filesystem>
#include <string_view>

#include "ephost/status.h"
#include "host/base/files/file_system.h"

namespace ephost::context {

// Name of the store in the folder that the user gives.
inline constexpr std::string_view kStoreFolderName = "ephost-context-cache";
inline constexpr std::string_view kStoreMarkerName = "CACHEDIR.TAG";
inline constexpr std::string_view kFolderMarkerName = "ephost-cache-folder";

// Whether `store` is a cache store. False if it is missing or empty; FAIL if it is not a folder, if
// it has another format, or if it is neither empty nor marked.
[[nodiscard]] Result<bool> is_store(const std::filesystem::path& store,
                                    const FileSystem& file_system);

// Makes `store` a cache store, unless it is one already, and creates missing parent folders. Fails
// as is_store does.
[[nodiscard]] Status make_store(const std::filesystem::path& store, const FileSystem& file_system);

// Marks a folder of the store.
[[nodiscard]] Status mark_folder(const std::filesystem::path& folder,
                                 const FileSystem& file_system);

// Whether `folder` is marked. Does not follow a link.
[[nodiscard]] bool is_marked(const std::filesystem::path& folder, const FileSystem& file_system);

// Removes a marked folder with its content as far as possible, the marker last. In an unmarked
// folder, removes only what an interrupted `mark_folder` leaves. Does not follow links, and stays
// in one file system.
void remove_folder(const std::filesystem::path& folder, const FileSystem& file_system) noexcept;

// Creates a folder and its parent folders if they are missing.
[[nodiscard]] Status make_folders(const std::filesystem::path& folder,
                                  const FileSystem& file_system);

}  // namespace ephost::context
