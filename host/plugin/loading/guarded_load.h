// Loads libraries by their paths such that none of their code runs unless the system's loader has
// mapped the very files that were checked. Called by library.h, which describes the rest.
//
// A library has to be loaded by its path, because otherwise it could not find its neighbours
// ($ORIGIN), and debuggers could not find it. But the loader opens the path itself, and runs code
// (resolvers of indirect functions, constructors) before dlopen returns, which is too late for a
// comparison. So the loader is given a guard: an object without code that depends on the libraries
// and on a second object. It maps these one after the other, and their own dependencies only
// afterwards. The second object is empty, and a lease on it holds up whoever opens it. Once the
// loader waits there, a thread looks up in /proc/self/maps which files were mapped. If they are the
// right ones, it fills the object in; if not, the loader finds it empty and gives the libraries up.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "host/base/files/file.h"

namespace ephost::plugin {

// What dlopen returned; it is closed at the end.
struct CloseHandle {
  void operator()(void* handle) const;
};
using LoadedHandle = std::unique_ptr<void, CloseHandle>;

// Loads the libraries at the paths of `files`, which are absolute and different, with every symbol
// resolved at once, and returns a handle that keeps them loaded. A library that is loaded already
// is only compared. Null where the system has no leases or no /proc; nothing was loaded then. The
// failures are those below. [load]
[[nodiscard]] Result<LoadedHandle> load_guarded(std::span<const MappedFile* const> files);

// Whether another file than `file` is loaded from its path. False without /proc, where that is
// unknown.
[[nodiscard]] bool is_another_file(const MappedFile& file);

// EP_FAIL: the path led to another file.
[[nodiscard]] Status replaced_library(const std::filesystem::path& path);
// EP_FAIL: the system's loader refused the library with `text`.
[[nodiscard]] Status loader_refusal(const std::filesystem::path& path, std::string_view text);

}  // namespace ephost::plugin
