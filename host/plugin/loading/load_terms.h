// The files that a library may bring along when it is loaded. Made by plugin_files.h;
// loaded_files.h compares them with what the system's loader has mapped.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <vector>

#include "host/base/files/file.h"
#include "host/plugin/loading/held_file.h"

namespace ephost::plugin {

// A file that was checked, and that the loader may map as a dependency of the library.
struct CheckedFile {
  // The paths at which the loader may find it, absolute and without `.` and `..`.
  std::vector<std::filesystem::path> names;
  const MappedFile* file = nullptr;  // never null; outlives the load
  // Where others may write into the file and its checksum is known: what keeps it as it is until
  // its pages have been copied (private_pages.h). Otherwise null.
  const HeldFile* shared = nullptr;
};

struct LoadTerms {
  // As CheckedFile::shared, of the library itself.
  const HeldFile* shared = nullptr;
  // At these paths, no other files are accepted. They need not be loaded.
  std::vector<CheckedFile> files;
  // The plugin's folders, canonical. What lies in them is not the system's, even if they are below
  // /usr/lib.
  std::vector<std::filesystem::path> folders;
  // Whether a library that is neither among `files` nor one of the system is refused.
  bool listed_only = false;
};

// EP_FAIL: the path led to another file.
[[nodiscard]] Status replaced_library(const std::filesystem::path& path);
// EP_FAIL: others may have written into the file since it was checked.
[[nodiscard]] Status unprotected_file(const std::filesystem::path& path);
// EP_FAIL: the library belongs neither to the system nor to the files that the manifest lists.
[[nodiscard]] Status unlisted_library(const std::filesystem::path& path);

}  // namespace ephost::plugin
