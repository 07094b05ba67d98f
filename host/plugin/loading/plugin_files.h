// The files of a plugin, compared with the checksums in its manifest and kept as they are until the
// plugin is loaded. Made by the registry.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/manifest/search.h"
#include "host/plugin/loading/held_file.h"
#include "host/plugin/loading/load_terms.h"

namespace ephost::plugin {

class PluginFiles {
 public:
  // Opens and maps the library and what the manifest lists in `files`, and compares each with the
  // SHA-256 that the manifest states. INVALID_ARGUMENT for another one; otherwise fails as
  // manifest::open_plugin_file, manifest::check_plugin_owner and HeldFile::open. From before the
  // first byte of a library is read, this one or a listed one, until the object is destroyed,
  // nobody changes it in place.
  static Result<PluginFiles> open(const manifest::FoundPlugin& plugin);

  [[nodiscard]] const MappedFile& library() const { return library_.file(); }
  // Leaves the object without the library's file; it goes on to hold it.
  [[nodiscard]] MappedFile take_library() { return library_.take_file(); }
  // What may be loaded with the library. Valid as long as the object.
  [[nodiscard]] LoadTerms terms(bool listed_only) const;

 private:
  struct Listed {
    std::vector<std::filesystem::path> names;
    HeldFile file;
  };

  explicit PluginFiles(HeldFile library) : library_(std::move(library)) {}
  Status add(const manifest::Manifest& manifest, const std::string& path,
             const std::string& stated);

  HeldFile library_;
  std::vector<Listed> listed_;
  std::vector<std::filesystem::path> folders_;
};

}  // namespace ephost::plugin
