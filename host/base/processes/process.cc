#include "host/base/processes/process.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "host/base/files/folders/directory.h"
#include "host/base/format.h"

namespace ephost {
namespace {

ProcessEnd end_of_state(int state) {
  if (WIFSIGNALED(state)) return {.signal = WTERMSIG(state)};
  return {.status = WEXITSTATUS(state)};
}

}  // namespace

ProcessId this_process() noexcept { return ::getpid(); }

Result<ProcessId> fork_process(FunctionRef<int()> work) {
  const ProcessId child = ::fork();
  if (child == 0) ::_exit(work());
  if (child > 0) return child;
  return Status(StatusCode::kFail, formatted("cannot start a child process: {}",
                                             std::generic_category().message(errno)));
}

std::string signal_text(int signal) {
  return formatted("signal {} ({})", signal, ::strsignal(signal));
}

ProcessEnd wait_for_end(ProcessId child) {
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  return end_of_state(state);
}

std::optional<ProcessEnd> end_so_far(ProcessId child) {
  int state = 0;
  if (::waitpid(child, &state, WNOHANG) != child) return std::nullopt;
  return end_of_state(state);
}

void reap_children() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

std::vector<ProcessId> child_processes() {
  const std::filesystem::path threads = "/proc/self/task";
  std::vector<ProcessId> found;
  std::error_code ignored;
  for (const std::string& thread : list_directory(threads, ignored)) {
    std::ifstream list(threads / thread / "children");
    for (ProcessId child = 0; list >> child;) found.push_back(child);
  }
  return found;
}

void set_adopts_orphans(bool adopts) { ::prctl(PR_SET_CHILD_SUBREAPER, adopts ? 1 : 0); }

void kill_process(ProcessId process) { ::kill(process, SIGKILL); }

void kill_group(ProcessId leader) { ::kill(-leader, SIGKILL); }

bool is_group_empty(ProcessId leader) {
  while (::waitpid(-leader, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-leader, 0) != 0;
}

FileDescriptor open_process(ProcessId process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

void kill_process(const FileDescriptor& process) {
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

}  // namespace ephost
