#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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
  if (what == "files") {
    int opened = 0;
    while (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++opened;
    return strerrorname_np(errno);
  }
  return "unknown";
}

}  // namespace ephost::worker
