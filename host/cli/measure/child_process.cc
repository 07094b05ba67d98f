#include "host/cli/measure/child_process.h"

#include <ephost/plugin_exit.h>

#include <array>
#include <cstdlib>
#include <string>

#include "host/base/format.h"
#include "host/base/processes/pipe.h"
#include "host/base/processes/process.h"
#include "host/cli/report/activity.h"

namespace ephost::cli {
namespace {

// In the child: the status with which it exits.
int work_and_answer(const std::function<Result<Json>()>& work, int output) {
  guard_against_plugin_exit(EXIT_FAILURE);
  Json answer;
  const Result<Json> result = work();
  if (result.ok()) {
    answer.set("result", *result);
  } else {
    answer.set("code", static_cast<int>(result.status().code()));
    answer.set("message", result.status().message());
  }
  return write_all(output, answer.dump()) ? EXIT_SUCCESS : EXIT_FAILURE;
}

std::string read_to_end(int input) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ptrdiff_t count = read_some(input, buffer);
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

Result<Json> in_child(const std::string& activity, const std::function<Result<Json>()>& work) {
  EPHOST_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  EPHOST_ASSIGN_OR_RETURN(const ProcessId child, fork_process([&] {
                            pipe.read_end.reset();
                            return work_and_answer(work, pipe.write_end.get());
                          }));
  pipe.write_end.reset();
  const Activity line(activity, !activity.empty());
  const std::string text = read_to_end(pipe.read_end.get());
  const ProcessEnd end = wait_for_end(child);
  const Json answer = Json::parse(text);
  if (answer.is_null() || !end.is_success()) {
    return Status(StatusCode::kFail,
                  end.signal != 0
                      ? formatted("the child process was ended by signal {}", end.signal)
                      : std::string("the child process ended without an answer"));
  }
  const Json code = answer.member("code");
  if (code.is_null()) return answer.member("result");
  return Status(static_cast<StatusCode>(code.number()), answer.member("message").string());
}

}  // namespace ephost::cli
