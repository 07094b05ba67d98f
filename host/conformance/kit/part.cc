#include "host/conformance/kit/part.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "host/base/format.h"
#include "host/base/processes/pipe.h"
#include "host/base/processes/spawn.h"
#include "host/conformance/kit/subject_arguments.h"

namespace ephost::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAnswer = 3;  // the descriptor in the child

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
  EPHOST_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  std::vector<std::string> all = {"ephost-conformance", "part", std::string(part)};
  const std::vector<std::string> stated = subject_arguments(subject);
  all.insert(all.end(), stated.begin(), stated.end());
  all.insert(all.end(), {"--answer", std::to_string(kAnswer), "--"});
  all.insert(all.end(), arguments.begin(), arguments.end());
  // In the group of this process, which is ended as a whole.
  const Result<pid_t> child = spawn({.program = "/proc/self/exe",
                                     .arguments = std::move(all),
                                     .environment = child_environment(),
                                     .descriptors = {{pipe.write_end.get(), kAnswer}},
                                     .leads_group = false});
  EPHOST_RETURN_IF_ERROR(child.status());
  pipe.write_end.reset();
  std::string answer;
  const bool is_in_time = read_answer(pipe.read_end.get(), Clock::now() + deadline, answer);
  pipe.read_end.reset();
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
