#include "host/cli/measure/child_process.h"

#include <ephost/plugin_exit.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "host/base/format.h"
#include "host/base/processes/pipe.h"
#include "host/cli/report/activity.h"

namespace ephost::cli {
namespace {

[[noreturn]] void work_and_exit(const std::function<Result<Json>()>& work, int output) {
  guard_against_plugin_exit(EXIT_FAILURE);
  Json answer;
  const Result<Json> result = work();
  if (result.ok()) {
    answer.set("result", *result);
  } else {
    answer.set("code", static_cast<int>(result.status().code()));
    answer.set("message", result.status().message());
  }
  const std::string text = answer.dump();
  const char* data = text.data();
  for (size_t left = text.size(); left > 0;) {
    const ssize_t written = ::write(output, data, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(EXIT_FAILURE);
    data += written;
    left -= static_cast<size_t>(written);
  }
  ::_exit(EXIT_SUCCESS);
}

std::string read_to_end(int input) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

Result<Json> in_child(const std::string& activity, const std::function<Result<Json>()>& work) {
  EPHOST_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  const pid_t child = ::fork();
  if (child == 0) {
    pipe.read_end.reset();
    work_and_exit(work, pipe.write_end.get());
  }
  if (child < 0) {
    return Status(StatusCode::kFail,
                  formatted("cannot start a child process: {}", std::strerror(errno)));
  }
  pipe.write_end.reset();
  const Activity line(activity, !activity.empty());
  const std::string text = read_to_end(pipe.read_end.get());
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  const Json answer = Json::parse(text);
  if (answer.is_null() || !WIFEXITED(state) || WEXITSTATUS(state) != EXIT_SUCCESS) {
    return Status(StatusCode::kFail,
                  WIFSIGNALED(state)
                      ? formatted("the child process was ended by signal {}", WTERMSIG(state))
                      : std::string("the child process ended without an answer"));
  }
  const Json code = answer.member("code");
  if (code.is_null()) return answer.member("result");
  return Status(static_cast<StatusCode>(code.number()), answer.member("message").string());
}

}  // namespace ephost::cli
