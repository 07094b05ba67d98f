// Completes a manifest so that its signature covers the whole plugin: `sha256` of the libraries and
// `files`, the checksums of everything else in the plugin's folder. Signing itself is in
// secret_key.h.
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
};

// Checks the checksums that the manifest states, and adds the keys that it does not have. Libraries
// of other platforms need not be there, and no checksum of theirs is then added. `files` is filled
// in where the folder has no other manifest, whose files these could be: with every regular file
// below it other than the libraries, manifests, signatures and hidden files. INVALID_ARGUMENT for a
// wrong checksum and a text that nothing can be added to; otherwise fails as load_manifest.
[[nodiscard]] Result<CompletedManifest> complete_manifest(const std::filesystem::path& file);

}  // namespace ephost::trust
