// Limits of a worker that no rlimit enforces, by seccomp filters: memory that several processes
// could map, which RLIMIT_DATA does not count, and the number of threads. Private to this module.
#pragma once

#include <ephost/status.h>

#include <cstdint>

#include "host/base/files/file_descriptor.h"

namespace ephost::worker {

// From now on, memfd_create, shared anonymous mappings and shared memory of System V fail with
// EPERM in this process: what they take could not be bounded. FAIL, for the report, where the
// kernel has no filters.
[[nodiscard]] Status refuse_uncounted_memory();

// From now on, each new thread and process waits for an answer of the owner of the descriptor
// (answer_about_thread). FAIL, for the report, where the kernel has no such filters, or one is
// installed already.
[[nodiscard]] Result<FileDescriptor> ask_about_threads();

// In the host: answers what `requests` asks. A thread is made if the process that wants it has
// fewer than `most`, and fails with EAGAIN otherwise.
void answer_about_thread(const FileDescriptor& requests, uint64_t most);

}  // namespace ephost::worker
