// Waiting for pipes and sockets.
#pragma once

#include <chrono>
#include <span>

#include "host/base/files/file_descriptor.h"

namespace ephost {

// Whether something can be read or written, or the other end was closed, by then.
[[nodiscard]] bool wait_until_readable(const FileDescriptor& descriptor,
                                       std::chrono::milliseconds longest);
[[nodiscard]] bool wait_until_writable(const FileDescriptor& descriptor,
                                       std::chrono::milliseconds longest);

// Returns when one of the descriptors can be read or was closed, a signal was handled, or the time
// is over.
void wait_a_moment(std::span<const int> descriptors, std::chrono::milliseconds longest);

}  // namespace ephost
