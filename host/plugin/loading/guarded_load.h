// Loading of libraries by their paths such that none of their code runs unless the system's loader
// has mapped the very files that were checked. Called by library.h, which describes the rest.
//
// A library has to be loaded by its path, because otherwise it could not find its neighbours
// ($ORIGIN), and debuggers could not find it. But the loader opens the path itself, and runs code
// (resolvers of indirect functions, constructors) before dlopen returns, which is too late for a
// comparison. So the loader is given a guard: an object without code that depends on the library
// and on a gate, a file that blocks whatever opens it (loader_gate.h). Once the loader waits
// there, it has mapped the library, and a thread compares. If all is right, the gate becomes an
// object without code, too; if not, the loader finds it empty and gives everything up.
//
// The loader maps objects in the order of their distance: what the guard depends on, what these
// depend on, and so on. So a gate that was reached becomes an object that depends on another gate,
// which the loader reaches when it has mapped what is one step further away. When nothing was added
// between two gates, nothing is left to be mapped, and the last one lets the loader finish.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "host/base/files/file.h"
#include "host/plugin/loading/load_terms.h"
#include "host/plugin/loading/loaded_files.h"

namespace ephost::plugin {

// What dlopen returned; it is closed at the end.
struct CloseHandle {
  void operator()(void* handle) const;
};
using LoadedHandle = std::unique_ptr<void, CloseHandle>;

// Loads `library`, whose path is absolute, with every symbol resolved at once, and returns a handle
// that keeps it loaded. `files` was created for it, and judges everything that is mapped before any
// of it is run. A library that is loaded already is only compared. Null where the system has no
// leases or no /proc; nothing was loaded then. The failures are those below and those of
// LoadedFiles::compare. [load]
[[nodiscard]] Result<LoadedHandle> load_guarded(const MappedFile& library, LoadedFiles& files);

// Whether another file than `file` is loaded from its path. False without /proc, where that is
// unknown.
[[nodiscard]] bool is_another_file(const MappedFile& file);

// EP_FAIL: the system's loader refused the library with `text`.
[[nodiscard]] Status loader_refusal(const std::filesystem::path& path, std::string_view text);

}  // namespace ephost::plugin
