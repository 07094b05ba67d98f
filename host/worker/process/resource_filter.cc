#include "host/worker/process/resource_filter.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "host/base/format.h"

namespace ephost::worker {
namespace {

struct ResourceFilterDeleter {
  void operator()(scmp_filter_ctx filter) const { ::seccomp_release(filter); }
};
using ResourceFilter = std::unique_ptr<void, ResourceFilterDeleter>;

Status filter_failure(std::string_view limit, int error) {
  return Status(StatusCode::kFail,
                formatted("cannot limit {}: {}", limit, std::generic_category().message(error)));
}

// Calls that this machine does not have are not an error.
int add_rule(const ResourceFilter& filter, uint32_t action, const char* name,
             const scmp_arg_cmp* condition = nullptr) {
  const int number = ::seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return 0;
  return ::seccomp_rule_add_array(filter.get(), action, number, condition == nullptr ? 0 : 1,
                                  condition);
}

// The threads of the process that a thread belongs to; 0 if it has ended.
uint64_t count_threads(pid_t thread) {
  std::ifstream status(formatted("/proc/{}/status", thread));
  std::string line;
  constexpr std::string_view kKey = "Threads:\t";
  while (std::getline(status, line)) {
    if (!line.starts_with(kKey)) continue;
    uint64_t count = 0;
    std::from_chars(line.data() + kKey.size(), line.data() + line.size(), count);
    return count;
  }
  return 0;
}

}  // namespace

Status refuse_uncounted_memory() {
  const ResourceFilter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) return filter_failure("memory", ENOMEM);
  const uint32_t refused = SCMP_ACT_ERRNO(EPERM);
  int error = 0;
  for (const char* name : {"memfd_create", "memfd_secret", "shmget"}) {
    if (error == 0) error = add_rule(filter, refused, name);
  }
  // Both kinds of shared mappings have the bit of MAP_SHARED.
  constexpr uint64_t kSharedAnonymous = MAP_SHARED | MAP_ANONYMOUS;
  const scmp_arg_cmp is_shared = {
      .arg = 3, .op = SCMP_CMP_MASKED_EQ, .datum_a = kSharedAnonymous, .datum_b = kSharedAnonymous};
  if (error == 0) error = add_rule(filter, refused, "mmap", &is_shared);
  if (error == 0) error = ::seccomp_load(filter.get());
  return error == 0 ? Status::ok_status() : filter_failure("memory", -error);
}

Result<FileDescriptor> ask_about_threads() {
  ResourceFilter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) return filter_failure("threads", ENOMEM);
  int error = 0;
  for (const char* name : {"clone", "clone3", "fork", "vfork"}) {
    if (error == 0) error = add_rule(filter, SCMP_ACT_NOTIFY, name);
  }
  if (error == 0) error = ::seccomp_load(filter.get());
  if (error != 0) return filter_failure("threads", -error);
  const int requests = ::seccomp_notify_fd(filter.get());
  if (requests < 0) return filter_failure("threads", -requests);
  FileDescriptor own(::fcntl(requests, F_DUPFD_CLOEXEC, 0));
  // Whether the library closes its descriptor depends on its version; a plugin must not have it.
  filter.reset();
  ::close(requests);
  if (!own.is_open()) return filter_failure("threads", EMFILE);
  return own;
}

// The structures grow with the kernel, and it writes as much as it knows.
void answer_about_thread(const FileDescriptor& requests, uint64_t most) {
  seccomp_notif_sizes sizes = {};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return;
  std::string request_bytes(std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)), '\0');
  auto* const request = reinterpret_cast<seccomp_notif*>(request_bytes.data());
  if (::ioctl(requests.get(), SECCOMP_IOCTL_NOTIF_RECV, request) != 0) return;
  std::string answer_bytes(std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)),
                           '\0');
  auto* const answer = reinterpret_cast<seccomp_notif_resp*>(answer_bytes.data());
  answer->id = request->id;
  if (count_threads(static_cast<pid_t>(request->pid)) < most) {
    answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  } else {
    answer->error = -EAGAIN;
  }
  ::ioctl(requests.get(), SECCOMP_IOCTL_NOTIF_SEND, answer);
}

}  // namespace ephost::worker
