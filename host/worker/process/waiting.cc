#include "host/worker/process/waiting.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace ephost::worker {

bool wait_for(const FileDescriptor& socket, short events, std::chrono::milliseconds longest) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + longest;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd polled = {.fd = socket.get(), .events = events, .revents = 0};
    const auto slice = std::min(left, std::chrono::milliseconds(std::chrono::hours(1)));
    const int ready = ::poll(&polled, 1, static_cast<int>(slice.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace ephost::worker
