// Waiting for sockets. Private to this module.
#pragma once

#include <chrono>

#include "host/base/files/file_descriptor.h"

namespace ephost::worker {

// Whether the socket can be read (POLLIN) or written (POLLOUT), or was closed, by then.
[[nodiscard]] bool wait_for(const FileDescriptor& socket, short events,
                            std::chrono::milliseconds longest);

}  // namespace ephost::worker
