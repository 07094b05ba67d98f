#include "host/conformance/kit/part.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "host/base/format.h"
#include "host/conformance/kit/subject_arguments.h"

namespace ephost::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAnswer = 3;  // the descriptor in the child

Status failed(std::string_view what, int error) {
  return Status(StatusCode::kFail, formatted("{}: {}", what, std::strerror(error)));
}

std::vector<char*> null_terminated(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The environment of this process, with fresh memory filled with another byte in each child.
std::vector<std::string> child_environment() {
  static std::atomic<unsigned> children = 0;
  constexpr std::string_view kFill = "MALLOC_PERTURB_=";
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(kFill)) variables.emplace_back(*variable);
  }
  variables.push_back(formatted("{}{}", kFill, 1 + children++ % 255));
  return variables;
}

Result<pid_t> spawn(std::vector<std::string> arguments, int answer) {
  std::vector<std::string> variables = child_environment();
  const std::vector<char*> argv = null_terminated(arguments);
  const std::vector<char*> envp = null_terminated(variables);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, answer, kAnswer);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failed("cannot start a process for a part of the check", error);
  return child;
}

// What the child writes until it closes its end; false once the deadline has passed.
bool read_answer(int input, Clock::time_point end, std::string& answer) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd watched = {input, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(std::min<int64_t>(left, 1000))) <= 0) continue;
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    answer.append(buffer.data(), static_cast<size_t>(count));
  }
}

std::string how_it_ended(int state) {
  if (WIFSIGNALED(state)) {
    return formatted("was ended by signal {} ({})", WTERMSIG(state), ::strsignal(WTERMSIG(state)));
  }
  return formatted("ended with status {} and without an answer", WEXITSTATUS(state));
}

}  // namespace

Result<std::string> run_part(const Subject& subject, std::string_view part,
                             std::span<const std::string> arguments,
                             std::chrono::seconds deadline) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe", errno);
  std::vector<std::string> all = {"ephost-conformance", "part", std::string(part)};
  const std::vector<std::string> stated = subject_arguments(subject);
  all.insert(all.end(), stated.begin(), stated.end());
  all.insert(all.end(), {"--answer", std::to_string(kAnswer), "--"});
  all.insert(all.end(), arguments.begin(), arguments.end());
  Result<pid_t> child = spawn(std::move(all), pipe[1]);
  ::close(pipe[1]);
  if (!child.ok()) {
    ::close(pipe[0]);
    return std::move(child).status();
  }
  std::string answer;
  const bool is_in_time = read_answer(pipe[0], Clock::now() + deadline, answer);
  ::close(pipe[0]);
  if (!is_in_time) ::kill(*child, SIGKILL);
  int state = 0;
  while (::waitpid(*child, &state, 0) < 0 && errno == EINTR) {
  }
  if (!is_in_time) {
    return Status(
        StatusCode::kFail,
        formatted("the process of the part {} was still busy after {} s", part, deadline.count()));
  }
  const bool has_answer = WIFEXITED(state) && WEXITSTATUS(state) == 0 && !answer.empty();
  if (!has_answer) {
    return Status(StatusCode::kFail,
                  formatted("the process of the part {} {}", part, how_it_ended(state)));
  }
  // The first character says what follows (program/main.cc).
  if (answer.front() == 'E') return Status(StatusCode::kFail, answer.substr(1));
  return answer.substr(1);
}

}  // namespace ephost::conformance
