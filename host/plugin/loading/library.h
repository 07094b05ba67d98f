// A shared library that stays loaded as long as the object lives. Knows nothing about the plugin
// ABI. Used by the registry.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "ephost/status.h"
#include "host/base/files/file.h"
#include "host/plugin/loading/load_terms.h"
#include "host/plugin/loading/loaded_files.h"

namespace ephost::plugin {

class Library {
 public:
  // Loads `file` with every symbol resolved at once and hidden from other libraries. EP_FAIL
  // carries the loader's own message (a missing dependency, a library for another machine, not a
  // library at all); INVALID_ARGUMENT if the loader would expand the path
  // (manifest::check_loader_path).
  // [load]
  //
  // The loader opens the file by its path once more, because a library opened through a descriptor
  // could not find its neighbours ($ORIGIN). If the path, or that of a file in `terms`, leads to
  // another file by then, the result is EP_FAIL, and none of its code has run (guarded_load.h).
  // Where the system has no leases, it is noticed only after the constructors, and with
  // LoadTerms::listed_only nothing is loaded. A change of a file in place has to be prevented by
  // the caller (held_file.h).
  static Result<std::shared_ptr<const Library>> open(MappedFile file, const LoadTerms& terms = {});

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  // Takes the load lock: the library's destructors run.
  ~Library();

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  // The bytes of the file that was loaded.
  [[nodiscard]] std::span<const std::byte> content() const { return file_.bytes(); }

  // A library that was loaded with this one, is not the system's and was not among the files of the
  // terms (LoadedFiles::unlisted); empty if there is none.
  [[nodiscard]] const std::filesystem::path& unlisted() const { return unlisted_; }
  // What `unlisted` returns for other terms. EP_FAIL where `open` with `file`, which has the path
  // of this library, and these terms would be refused, since another file is loaded.
  [[nodiscard]] Result<std::filesystem::path> compare(const MappedFile& file,
                                                      const LoadTerms& terms) const;

  // From now on the library stays loaded until the process ends.
  void stay_loaded() const;

  // The address of an exported function, or null. Valid as long as the object.
  template <class Function>
  [[nodiscard]] Function* find_function(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

 private:
  struct Handle;
  Library(MappedFile file, std::unique_ptr<Handle> handle, const LoadedFiles& loaded);
  [[nodiscard]] void* find_symbol(const char* name) const;

  MappedFile file_;
  std::unique_ptr<Handle> handle_;
  std::vector<std::filesystem::path> brought_along_;  // as LoadedFiles has it
  std::filesystem::path unlisted_;
};

}  // namespace ephost::plugin
