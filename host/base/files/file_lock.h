// Locks of whole files and folders (flock) between all who open them, in any process. The system
// releases a lock when its descriptor is closed, at the latest at the end of the process.
#pragma once

#include <string>

#include "host/base/files/file_system.h"

namespace ephost {

enum class LockMode { kShared, kExclusive };
enum class LockOutcome {
  kTaken,
  kHeldElsewhere,
  kFailed,  // errno gives the reason; some file systems have no locks
};
// Does not wait.
[[nodiscard]] LockOutcome try_lock(int descriptor, LockMode mode, const FileSystem& file_system);

// The holder of a lock on the open file, as far as the system says: "process 123", "this process"
// or "another process".
[[nodiscard]] std::string lock_holder(int descriptor, const FileSystem& file_system);

}  // namespace ephost
