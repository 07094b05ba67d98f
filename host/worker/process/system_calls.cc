#include "host/worker/process/system_calls.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>

#include "host/base/files/file_descriptor.h"
#include "host/base/format.h"

namespace ephost::worker {
namespace {

constexpr std::string_view kMissing =
    "system calls are not restricted (network, new processes, signals, ptrace): this kernel has no "
    "seccomp filters";

// They fail with EPERM whatever their arguments are; names that a kernel or machine lacks are left
// out. Everything else is allowed, as drivers need calls that nobody can list.
constexpr std::array kRefused = {
    // Network, and what could reach other processes. The worker's own sockets exist already.
    "socket", "connect", "bind", "listen", "accept", "accept4",
    // New programs and processes; clone is below.
    "execve", "execveat", "fork", "vfork", "setsid", "setpgid",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "tkill", "setpriority", "ioprio_set",
    "move_pages", "migrate_pages",
    // What is not checked by the rules of files: owners, permissions, attributes and times.
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat",
    "removexattrat", "utime", "utimes", "utimensat", "futimesat", "open_by_handle_at",
    "name_to_handle_at", "memfd_secret",
    // Calls that go past filters, and the kernel's larger surfaces.
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open",
    "userfaultfd", "add_key", "request_key", "keyctl", "personality", "fanotify_init",
    // The system.
    "mount", "umount2", "umount", "pivot_root", "chroot", "unshare", "setns", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff",
    "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "acct", "quotactl", "quotactl_fd", "syslog", "vhangup", "sethostname", "setdomainname",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "iopl", "ioperm",
    "mknod", "mknodat", "lookup_dcookie", "nfsservctl",
    // System V IPC and message queues: memory and messages that other processes share.
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "msgget", "msgsnd", "msgrcv",
    "msgctl", "mq_open", "mq_unlink",
    // Other users.
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
    "setgroups", "capset"};

struct FilterDeleter {
  void operator()(scmp_filter_ctx filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, FilterDeleter>;

scmp_arg_cmp compare(unsigned argument, scmp_compare how, uint64_t first, uint64_t second = 0) {
  return {.arg = argument, .op = how, .datum_a = first, .datum_b = second};
}

// Adds a rule; calls that this machine does not have are not an error.
int refuse(const Filter& filter, const char* name, const scmp_arg_cmp* condition = nullptr,
           int error = EPERM) {
  const int number = ::seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return 0;
  return ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(static_cast<uint32_t>(error)),
                                  number, condition == nullptr ? 0 : 1, condition);
}

// The kernel takes 32 bits of the argument, whatever the others are.
scmp_arg_cmp equals_int(unsigned argument, uint32_t value) {
  return compare(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value);
}

int refuse_conditionally(const Filter& filter) {
  const auto self = static_cast<uint64_t>(::getpid());
  int worst = 0;
  const auto add = [&](const char* name, scmp_arg_cmp condition, int error = EPERM) {
    const int result = refuse(filter, name, &condition, error);
    if (result != 0) worst = result;
  };
  // Signals to itself only; raise() and abort() use these.
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) {
    add(name, compare(0, SCMP_CMP_NE, self));
  }
  // Also by way of a file whose owner is told of input.
  for (const uint32_t command : {F_SETOWN, F_SETOWN_EX, F_SETSIG}) {
    add("fcntl", equals_int(1, command));
  }
  add("ioctl", equals_int(1, FIOSETOWN));
  add("ioctl", equals_int(1, SIOCSPGRP));
  // Limits and scheduling of itself only. A filter does not know which numbers are those of its own
  // threads: code that sets the processors of one when it makes it is told that all is well.
  for (const char* name : {"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"}) {
    add(name, compare(0, SCMP_CMP_GT, 0));
  }
  add("sched_setaffinity", compare(0, SCMP_CMP_GT, 0), 0);
  // Pairs that are connected for good: a datagram can have another address.
  add("socketpair", compare(0, SCMP_CMP_NE, AF_UNIX));
  for (const uint32_t type : {SOCK_DGRAM, SOCK_RAW}) {
    add("socketpair", compare(1, SCMP_CMP_MASKED_EQ, 0xf, type));
  }
  add("sendto", compare(4, SCMP_CMP_NE, 0));
  // Threads are allowed, processes are not.
  add("clone", compare(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  // The host's death has to remain the worker's.
  add("prctl", equals_int(0, PR_SET_PDEATHSIG));
  // Input for the terminal that the host runs in.
  add("ioctl", equals_int(1, TIOCSTI));
  add("ioctl", equals_int(1, TIOCLINUX));
  return worst;
}

int fill(const Filter& filter) {
  // Calls in the way of another architecture fail instead of ending the process without a word.
  int result = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
  for (const char* name : kRefused) {
    if (result == 0) result = refuse(filter, name);
  }
  // A filter cannot see its flags; libraries that are told it does not exist use clone.
  if (result == 0) result = refuse(filter, "clone3", nullptr, ENOSYS);
  return result == 0 ? refuse_conditionally(filter) : result;
}

bool has_filters() {
  const uint32_t action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

Status filter_error(int error) {
  return Status(StatusCode::kFail, formatted("cannot restrict system calls: {}",
                                             std::generic_category().message(-error)));
}

}  // namespace

Status restrict_system_calls(SandboxReport& report) {
  if (!has_filters()) {
    report.missing.emplace_back(kMissing);
    return Status::ok_status();
  }
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) return filter_error(-ENOMEM);
  if (const int error = fill(filter); error != 0) return filter_error(error);
  const int error = ::seccomp_load(filter.get());
  return error == 0 ? Status::ok_status() : filter_error(error);
}

void probe_system_calls(SandboxReport& report) {
  if (!has_filters()) report.missing.emplace_back(kMissing);
}

}  // namespace ephost::worker
