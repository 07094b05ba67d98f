// The completion of a manifest, so that its signature covers the whole plugin: `sha256` of the
// libraries and `files`, the checksums of everything else in the plugin's folders. Signing itself
// is in secret_key.h.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/manifest/manifest.h"

namespace ephost::trust {

struct CompletedManifest {
  manifest::Manifest manifest;
  std::string text;                // the manifest's, with what was added at its end
  std::vector<std::string> added;  // the keys that were added: "sha256", "files"
  // The files in the plugin's folders, as `files` would name them, that are neither in `files` nor
  // in `sha256`; without those of other manifests in the same folder, as far as these list them.
  std::vector<std::string> uncovered;
};

// Checks the checksums that the manifest has, and adds the keys that it does not have. Libraries
// of other platforms need not be there, and no checksum of theirs is then added.
//
// The plugin's folders are that of the manifest and, where the library lies in the directory for
// libraries of an installation (SCHEMA.md), the part of that directory which is named like the
// first part of the library's path. `files` is filled in where the manifest's folder has no other
// manifest, whose files these could be: with every regular file below them, hidden ones included,
// other than libraries with a checksum, the manifest and its signature.
//
// INVALID_ARGUMENT for a wrong checksum and a text that nothing can be added to; otherwise fails as
// load_manifest.
[[nodiscard]] Result<CompletedManifest> complete_manifest(const std::filesystem::path& file);

}  // namespace ephost::trust
