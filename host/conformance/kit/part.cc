#include "host/conformance/kit/part.h"

#include <array>
#include <atomic>
#include <vector>

#include "host/base/environment.h"
#include "host/base/format.h"
#include "host/base/processes/pipe.h"
#include "host/base/processes/spawn.h"
#include "host/base/processes/waiting.h"
#include "host/conformance/kit/subject_arguments.h"

namespace ephost::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAnswer = 3;  // the descriptor in the child

// The environment of this process, with fresh memory filled with another byte in each child.
std::vector<std::string> child_environment() {
  static std::atomic<unsigned> children = 0;
  constexpr std::string_view kFill = "MALLOC_PERTURB_=";
  std::vector<std::string> variables = environment_entries();
  std::erase_if(variables, [&](const std::string& one) { return one.starts_with(kFill); });
  variables.push_back(formatted("{}{}", kFill, 1 + children++ % 255));
  return variables;
}

// What the child writes until it closes its end; false once the deadline has passed.
bool read_answer(const FileDescriptor& input, Clock::time_point end, std::string& answer) {
  std::array<char, 65536> buffer{};
  const auto left = [end] {
    return std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  };
  while (wait_until_readable(input, left())) {
    const ptrdiff_t count = read_some(input.get(), buffer);
    if (count <= 0) return true;
    answer.append(buffer.data(), static_cast<size_t>(count));
  }
  return false;
}

std::string how_it_ended(const ProcessEnd& end) {
  if (end.signal != 0) return "was ended by " + signal_text(end.signal);
  return formatted("ended with status {} and without an answer", end.status);
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
  const Result<ProcessId> child = spawn({.program = "/proc/self/exe",
                                         .arguments = std::move(all),
                                         .environment = child_environment(),
                                         .descriptors = {{pipe.write_end.get(), kAnswer}},
                                         .leads_group = false});
  EPHOST_RETURN_IF_ERROR(child.status());
  pipe.write_end.reset();
  std::string answer;
  const bool is_in_time = read_answer(pipe.read_end, Clock::now() + deadline, answer);
  pipe.read_end.reset();
  if (!is_in_time) kill_process(*child);
  const ProcessEnd ended = wait_for_end(*child);
  if (!is_in_time) {
    return Status(
        StatusCode::kFail,
        formatted("the process of the part {} was still busy after {} s", part, deadline.count()));
  }
  if (!ended.is_success() || answer.empty()) {
    return Status(StatusCode::kFail,
                  formatted("the process of the part {} {}", part, how_it_ended(ended)));
  }
  // The first character says what follows (program/main.cc).
  if (answer.front() == 'E') return Status(StatusCode::kFail, answer.substr(1));
  return answer.substr(1);
}

}  // namespace ephost::conformance
