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
  // SHA-256 of the manifest. INVALID_ARGUMENT for another one; otherwise fails as
  // manifest::open_plugin_file, manifest::check_plugin_owner and HeldFile::open. From before the
  // first byte of a library is read, this one or a listed one, until the object is destroyed, it is
  // not changed in place. EP_FAIL where others may, and nothing can keep them from it, though the
  // manifest has a SHA-256.
  static Result<PluginFiles> open(const manifest::FoundPlugin& plugin);

  [[nodiscard]] const MappedFile& library() const { return library_.file(); }
  // Leaves the object without the library's file; it keeps the lease.
  [[nodiscard]] MappedFile take_library() { return library_.take_file(); }
  // INVALID_ARGUMENT if somebody other than root and this user may change one of these files or
  // replace it; EPHOST_ALLOW_WRITABLE_PLUGINS makes no difference.
  [[nodiscard]] Status check_writers() const;
  // What may be loaded with the library. Valid as long as the object.
  [[nodiscard]] LoadTerms terms(bool listed_only) const;

 private:
  struct Listed {
    std::vector<std::filesystem::path> names;
    HeldFile file;
  };

  PluginFiles(HeldFile library, bool has_checksum)
      : library_(std::move(library)),
        library_path_(library_.file().path()),
        has_checksum_(has_checksum) {}
  Status add(const manifest::Manifest& manifest, const std::string& path,
             const std::string& stated);

  HeldFile library_;
  std::filesystem::path library_path_;
  bool has_checksum_ = false;  // of the library
  std::vector<Listed> listed_;
  std::vector<std::filesystem::path> folders_;
};

}  // namespace ephost::plugin
