#include "host/worker/process/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "host/base/format.h"

namespace ephost::worker {
namespace {

// A limit of the host that is lower stays as it is.
Status limit(int resource, std::string_view name, uint64_t soft, uint64_t hard) {
  rlimit limits = {};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limits);
  limits.rlim_cur = std::min<rlim_t>(limits.rlim_cur, soft);
  limits.rlim_max = std::min<rlim_t>(limits.rlim_max, hard);
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limits) == 0) {
    return Status::ok_status();
  }
  return Status(StatusCode::kFail, formatted("cannot limit {} to {}: {}", name, soft,
                                             std::generic_category().message(errno)));
}

// To 1 and not to 0: with 0, the kernel still starts a program that core files are piped to. Where
// not even 1 is allowed there is no file either.
void turn_core_files_off() {
  const rlimit wanted = {.rlim_cur = 1, .rlim_max = 1};
  ::setrlimit(RLIMIT_CORE, &wanted);
}

}  // namespace

Status apply_limits(const Limits& limits) {
  turn_core_files_off();
  if (limits.memory != 0) {
    // Writing beyond the limit fails, and does not end the worker.
    ::signal(SIGXFSZ, SIG_IGN);
    EPHOST_RETURN_IF_ERROR(limit(RLIMIT_DATA, "memory", limits.memory, limits.memory));
    EPHOST_RETURN_IF_ERROR(limit(RLIMIT_FSIZE, "the size of files", limits.memory, limits.memory));
  }
  if (limits.cpu_seconds != 0) {
    // A plugin that survives SIGXCPU gets SIGKILL.
    const uint64_t hard = limits.cpu_seconds + 1;
    EPHOST_RETURN_IF_ERROR(limit(RLIMIT_CPU, "cpu_seconds", limits.cpu_seconds, hard));
  }
  if (limits.open_files == 0) return Status::ok_status();
  return limit(RLIMIT_NOFILE, "open_files", limits.open_files, limits.open_files);
}

}  // namespace ephost::worker
