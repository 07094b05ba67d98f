// The ABI calls functions marked [load] by one thread at a time in the whole process, because
// plugins may share a driver below. Whoever loads or unloads a library, or calls such a function
// (host/plugin, host/bridge), holds this lock. There is one for the process, since no registry
// knows of the others.
#pragma once

#include <mutex>

namespace ephost::plugin {

// Recursive: the destruction of a provider under the lock may unload its library.
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock_loading();

}  // namespace ephost::plugin
