// The path of the program of workers.
#pragma once

#include <ephost/status.h>

#include <filesystem>

namespace ephost::worker {

// The program ephost-worker that belongs to this host, or the one that EPHOST_WORKER_PROGRAM names.
// NO_SUCHFILE if it is missing.
[[nodiscard]] Result<std::filesystem::path> find_worker_program();

}  // namespace ephost::worker
