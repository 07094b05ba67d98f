// The layout of model hubs' local caches, as Hugging Face has it: a model in
// MODEL/snapshots/REVISION consists of links into MODEL/blobs, where files are named by their
// content.
#pragma once

#include <filesystem>
#include <vector>

#include "host/base/files/file_version.h"

namespace ephost {

// Canonical paths of folders other than `folder` itself in which files of a model in `folder` may
// lie: the blobs of the hub cache that the folder is in, if it is in one and the same user owns
// both.
[[nodiscard]] std::vector<std::filesystem::path> hub_folders_of(
    const std::filesystem::path& folder);

// The same for a model file, with the folder that it really lies in if `file` is a link. Nothing of
// the latter if `file` leads to anything but `opened` by now.
[[nodiscard]] std::vector<std::filesystem::path> linked_folders_of(
    const std::filesystem::path& file, const FileVersion& opened);

}  // namespace ephost
