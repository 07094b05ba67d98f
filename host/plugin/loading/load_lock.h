// Functions marked [load] are called by one thread at a time in the whole process, because plugins
// may share a driver. Code that loads or unloads a library, or calls such a function (the entry
// point, get_api), holds this lock. The process has one, because registries do not know about
// each other.
#pragma once

#include <mutex>

namespace ephost::plugin {

// Recursive: releasing a plugin under the lock may unload its library.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock_loading();

}  // namespace ephost::plugin
