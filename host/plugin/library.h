// A shared library, loaded as long as the object lives. Knows nothing of the plugin ABI. Used by
// the registry.
#pragma once

#include <filesystem>
#include <memory>

#include "ephost/status.h"

namespace ephost::plugin {

class Library {
 public:
  // Loads with every symbol resolved at once, and visible to nobody else. EP_FAIL carries the
  // loader's own text (a missing dependency, another machine's code, no library at all);
  // NO_SUCHFILE where there is no such file. [load]
  static Result<std::shared_ptr<const Library>> open(const std::filesystem::path& path);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  // Takes the load lock: the library's destructors run.
  ~Library();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // The address of an exported function, or null. It is valid as long as the object.
  template <class Function>
  [[nodiscard]] Function* find_function(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

 private:
  struct Handle;
  Library(std::filesystem::path path, std::unique_ptr<Handle> handle);
  [[nodiscard]] void* find_symbol(const char* name) const;

  std::filesystem::path path_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace ephost::plugin
