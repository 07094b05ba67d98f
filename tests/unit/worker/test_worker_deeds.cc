#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/worker/test_worker.h"

namespace ephost::worker {
namespace {

// Volatile, so that the compiler does not see that it never ends.
volatile int deepest = 1 << 30;

int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth == deepest ? 0 : overflow(depth + 1) + frame[0];
}

void use_memory() {
  std::vector<char*> blocks;
  while (true) {
    constexpr size_t kBlock = size_t{16} << 20;
    auto* const block = static_cast<char*>(std::malloc(kBlock));
    if (block == nullptr) std::abort();
    std::memset(block, 1, kBlock);
    blocks.push_back(block);
  }
}

std::string outcome(long result) { return result >= 0 ? "ok" : strerrorname_np(errno); }

std::string connect_somewhere() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return outcome(socket);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int result = ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
  return outcome(result);
}

std::string run_program() {
  const pid_t child = ::fork();
  if (child < 0) return outcome(child);
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return "ok";
}

std::string write_to_parent() {
  const std::string path = "/proc/" + std::to_string(::getppid()) + "/mem";
  return outcome(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

std::string make_pair(std::string_view type) {
  std::array<int, 2> ends = {};
  int kind = SOCK_STREAM;
  if (type == "dgram") kind = SOCK_DGRAM;
  if (type == "cloexec_dgram") kind = SOCK_DGRAM | SOCK_CLOEXEC;
  if (type == "raw") kind = SOCK_RAW;
  return outcome(::socketpair(AF_UNIX, kind, 0, ends.data()));
}

std::string send_to_address() {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return "no pair";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  return outcome(::sendto(ends[0], "x", 1, MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address),
                          sizeof address));
}

// The host is the one that a file sends signals to.
std::string own_file(std::string_view how) {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return "no pair";
  const pid_t host = ::getppid();
  f_owner_ex owner = {F_OWNER_PID, host};
  if (how == "setown") return outcome(::fcntl(ends[0], F_SETOWN, host));
  if (how == "setown_ex") return outcome(::fcntl(ends[0], F_SETOWN_EX, &owner));
  if (how == "setsig") return outcome(::fcntl(ends[0], F_SETSIG, SIGKILL));
  if (how == "wide") {
    return outcome(::syscall(SYS_fcntl, ends[0], (uint64_t{1} << 32) | F_SETOWN, host));
  }
  return outcome(::ioctl(ends[0], how == "siocspgrp" ? SIOCSPGRP : FIOSETOWN, &host));
}

std::string outlive_the_host(std::string_view how) {
  const uint64_t wide = how == "wide" ? uint64_t{1} << 32 : 0;
  return outcome(::syscall(SYS_prctl, wide | PR_SET_PDEATHSIG, 0, 0, 0, 0));
}

// Attempts to change the host's processor time and memory.
std::string change_host(std::string_view what) {
  const pid_t host = ::getppid();
  const sched_param idle = {};
  if (what == "affinity") {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return outcome(::sched_setaffinity(host, sizeof one, &one));
  }
  if (what == "scheduler") return outcome(::sched_setscheduler(host, SCHED_IDLE, &idle));
  if (what == "param") return outcome(::sched_setparam(host, &idle));
  if (what == "attr") {
    const std::array<uint64_t, 6> attributes = {sizeof attributes};
    return outcome(::syscall(SYS_sched_setattr, host, attributes.data(), 0));
  }
  if (what == "priority") return outcome(::setpriority(PRIO_PROCESS, host, 1));
  if (what == "ioprio") return outcome(::syscall(SYS_ioprio_set, 1, host, 3 << 13));
  if (what == "limit") {
    rlimit limit = {};
    return outcome(::prlimit(host, RLIMIT_CORE, nullptr, &limit));
  }
  if (what == "migrate") return outcome(::syscall(SYS_migrate_pages, host, 0, nullptr, nullptr));
  return outcome(::syscall(SYS_move_pages, host, 0, nullptr, nullptr, nullptr, 0));
}

// Memory that several processes could map, which no limit of the system counts.
std::string take_uncounted(std::string_view how) {
  constexpr size_t kSize = size_t{16} << 20;
  if (how == "memfd") return outcome(::memfd_create("plugin", 0));
  if (how == "secret") return outcome(::syscall(SYS_memfd_secret, 0));
  if (how == "sysv") return outcome(::shmget(IPC_PRIVATE, kSize, IPC_CREAT | 0600));
  int flags = MAP_SHARED | MAP_ANONYMOUS;
  if (how == "validated") flags = MAP_SHARED_VALIDATE | MAP_ANONYMOUS;
  if (how == "private") flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? strerrorname_np(errno) : "ok";
}

// "how many", or how many and the error of the next one.
std::string start_threads(int wanted) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, size_t{64} << 10);
  int started = 0;
  int error = 0;
  for (; started < wanted && error == 0; started += error == 0 ? 1 : 0) {
    pthread_t thread = {};
    error = ::pthread_create(
        &thread, &attributes,
        [](void*) -> void* {
          while (true) ::pause();
        },
        nullptr);
  }
  ::pthread_attr_destroy(&attributes);
  return std::to_string(started) + (error == 0 ? "" : std::string(" ") + strerrorname_np(error));
}

// Whether standard output can be truncated, or is one of the host's files.
std::string spoil_output() {
  struct stat info {};
  if (::fstat(STDOUT_FILENO, &info) != 0) return strerrorname_np(errno);
  if (!S_ISFIFO(info.st_mode)) return "not a pipe";
  if (::open("/proc/self/fd/1", O_WRONLY | O_TRUNC | O_CLOEXEC) >= 0 && ::ftruncate(1, 0) == 0) {
    return "ok";
  }
  return "a pipe";
}

}  // namespace

void die(std::string_view how) {
  if (how == "segv") ::raise(SIGSEGV);
  if (how == "null") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(5);
  if (how == "_exit") ::_exit(6);
  if (how == "kill") ::raise(SIGKILL);
  if (how == "term") ::raise(SIGTERM);
  if (how == "overflow") overflow(0);
  if (how == "memory") use_memory();
  if (how == "thread") std::thread([] { std::abort(); }).join();
  if (how == "loop") {
    while (true) ::getppid();
  }
  if (how == "hang") {
    while (true) ::pause();
  }
  if (how == "close") {
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    while (true) ::pause();
  }
  if (how == "orphan" && ::fork() == 0) {
    while (true) ::pause();
  }
  if (how == "orphan") std::abort();
}

std::string attempt(std::string_view what, std::string_view argument) {
  const std::string path(argument);
  if (what == "connect") return connect_somewhere();
  if (what == "read") return outcome(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (what == "write") return outcome(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (what == "grow") {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return outcome(::pwrite(file, "x", 1, off_t{1} << 30));
  }
  if (what == "chmod") return outcome(::chmod(path.c_str(), 0777));
  if (what == "program") return run_program();
  if (what == "exec") return outcome(::execl("/bin/true", "true", nullptr));
  if (what == "kill") return outcome(::kill(::getppid(), 0));
  if (what == "ptrace") return outcome(::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr));
  if (what == "mem") return write_to_parent();
  if (what == "peek") {
    char byte = 0;
    iovec here = {&byte, 1};
    iovec there = {&byte, 1};
    return outcome(::process_vm_readv(::getppid(), &here, 1, &there, 1, 0));
  }
  if (what == "thread") {
    bool ran = false;
    std::thread([&] { ran = true; }).join();
    return ran ? "ok" : "no";
  }
  if (what == "pair") return make_pair(argument);
  if (what == "address") return send_to_address();
  if (what == "own") return own_file(argument);
  if (what == "outlive") return outlive_the_host(argument);
  if (what == "host") return change_host(argument);
  if (what == "uncounted") return take_uncounted(argument);
  if (what == "threads") return start_threads(std::stoi(std::string(argument)));
  if (what == "spoil") return spoil_output();
  if (what == "print") {
    static_cast<void>(!::write(STDOUT_FILENO, argument.data(), argument.size()));
    return outcome(::write(STDERR_FILENO, "\nerror\n", 7));
  }
  if (what == "files") {
    int opened = 0;
    while (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++opened;
    return strerrorname_np(errno);
  }
  return "unknown";
}

}  // namespace ephost::worker
