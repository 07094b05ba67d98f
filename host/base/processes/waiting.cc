#include "host/base/processes/waiting.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace ephost {
namespace {

bool wait_for_event(const FileDescriptor& descriptor, short event,
                    std::chrono::milliseconds longest) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + longest;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd polled = {.fd = descriptor.get(), .events = event, .revents = 0};
    const auto slice = std::min(left, std::chrono::milliseconds(std::chrono::hours(1)));
    const int ready = ::poll(&polled, 1, static_cast<int>(slice.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

bool wait_until_readable(const FileDescriptor& descriptor, std::chrono::milliseconds longest) {
  return wait_for_event(descriptor, POLLIN, longest);
}

bool wait_until_writable(const FileDescriptor& descriptor, std::chrono::milliseconds longest) {
  return wait_for_event(descriptor, POLLOUT, longest);
}

void wait_a_moment(std::span<const int> descriptors, std::chrono::milliseconds longest) {
  std::vector<pollfd> polled;
  for (const int descriptor : descriptors) polled.push_back({descriptor, POLLIN, 0});
  ::poll(polled.data(), polled.size(), static_cast<int>(longest.count()));
}

}  // namespace ephost
