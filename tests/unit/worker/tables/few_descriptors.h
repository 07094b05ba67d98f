// A process that has hardly any descriptor left.
#pragma once

#include <ephost/plugin_abi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

namespace ephost::worker {

inline constexpr size_t kManyDescriptors = 500;
// UndefinedBehaviorSanitizer finds out by a pipe whether an object can be read.
inline constexpr bool kNeedsDescriptors = EPH_BUILD_FLAGS != 0;

// While it lives, this process may open `more` descriptors beyond the lowest one that is free.
class FewDescriptors {
 public:
  explicit FewDescriptors(size_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest = ::dup(STDERR_FILENO);
    ::close(lowest);
    rlimit changed = before_;
    changed.rlim_cur = static_cast<rlim_t>(lowest) + more;
    ::setrlimit(RLIMIT_NOFILE, &changed);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

}  // namespace ephost::worker
