// A shared library that stays loaded as long as the object lives. Knows nothing about the plugin
// ABI. Used by the registry.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "ephost/status.h"
#include "host/base/files/file.h"

namespace ephost::plugin {

class Library {
 public:
  // Loads `file` with every symbol resolved at once and visible to nobody else. EP_FAIL carries the
  // loader's own message (a missing dependency, a library for another machine, not a library at
  // all); INVALID_ARGUMENT if the loader would expand the path (manifest::check_loader_path).
  // [load]
  //
  // The loader opens the file by its path once more, because a library opened through a descriptor
  // could not find its neighbours ($ORIGIN). If the path leads to another file by then, the library
  // is unloaded again and the result is EP_FAIL; its constructors have run.
  static Result<std::shared_ptr<const Library>> open(MappedFile file);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  // Takes the load lock: the library's destructors run.
  ~Library();

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  // The bytes of the file that was loaded.
  [[nodiscard]] std::span<const std::byte> content() const { return file_.bytes(); }

  // From now on the library stays loaded until the process ends.
  void stay_loaded() const;

  // The address of an exported function, or null. Valid as long as the object.
  template <class Function>
  [[nodiscard]] Function* find_function(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

 private:
  struct Handle;
  Library(MappedFile file, std::unique_ptr<Handle> handle);
  [[nodiscard]] void* find_symbol(const char* name) const;

  MappedFile file_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace ephost::plugin
