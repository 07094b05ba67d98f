// Comparison of the files that the system's loader has mapped with those that were checked, made
// while the loader waits in the middle of its work (guarded_load.h), or, where it cannot be made to
// wait, once it is done.
#pragma once

#include <ephost/status.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/base/files/file.h"
#include "host/plugin/loading/load_terms.h"

namespace ephost::plugin {

// A library, or the program, as the loader lists it.
struct LoadedObject {
  uintptr_t address = 0;  // of its first segment
  std::string name;       // the path that the loader has opened

  auto operator<=>(const LoadedObject&) const = default;
};

class LoadedFiles {
 public:
  // To be created before `library` is loaded; what is loaded already does not count as brought
  // along by it, except what lies at the paths of `own`, which it has brought along before. The
  // arguments have to outlive the object. FAIL where the loader's list cannot be read.
  static Result<LoadedFiles> create(const MappedFile& library, const LoadTerms& terms,
                                    std::span<const std::filesystem::path> own = {});

  // The path of a guard or gate (guarded_load.h), which is not a library.
  void pass_over(const std::string& guard) { guards_.insert(guard); }

  // Judges what has been mapped since the last call; the first call judges everything. EP_FAIL if
  // the file at the path of the library or of another checked file is not the one that was checked,
  // or if a library is refused by LoadTerms::listed_only; INVALID_ARGUMENT if others can change one
  // that was brought along (manifest::check_plugin_owner). FAIL where that cannot be found out.
  // Files that others may write into are copied (CheckedFile::shared), as far as they are new.
  // May be called by another thread while the one that loads waits inside of the loader.
  [[nodiscard]] Status compare();

  // How many objects the loader has added between the last call of `compare` and that before it,
  // or the creation.
  [[nodiscard]] size_t added() const { return added_; }
  // Whether the library was seen at its path.
  [[nodiscard]] bool has_library() const { return has_library_; }
  // The paths of the libraries that were brought along, wherever they lie.
  [[nodiscard]] const std::vector<std::filesystem::path>& brought_along() const {
    return brought_along_;
  }
  // The first of them that is neither one of the checked files nor a library of the system
  // (system_libraries.h); empty if there is none. What lies in the plugin's folders is not the
  // system's.
  [[nodiscard]] const std::filesystem::path& unlisted() const { return unlisted_; }

 private:
  LoadedFiles(const MappedFile& library, const LoadTerms& terms, std::set<LoadedObject> before)
      : library_(library), terms_(terms), before_(std::move(before)) {}

  // The library, or a checked file with this path; no `file` if there is none.
  [[nodiscard]] CheckedFile checked_at(const std::filesystem::path& path) const;
  Status judge(const LoadedObject& object, bool is_new, std::string& maps);
  [[nodiscard]] bool is_of_system(const std::filesystem::path& path) const;
  [[nodiscard]] Result<bool> is_listed(const LoadedObject& object, std::string& maps) const;

  const MappedFile& library_;
  const LoadTerms& terms_;
  std::set<LoadedObject> before_;
  std::set<LoadedObject> judged_;
  size_t added_ = 0;
  bool has_library_ = false;
  std::set<std::string> guards_;
  std::vector<std::filesystem::path> brought_along_;
  std::filesystem::path unlisted_;
};

}  // namespace ephost::plugin
