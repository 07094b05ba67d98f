// ephost-conformance: runs one check of the kit, or one part of a check, and says on a descriptor
// what came out. `ephost validate` starts it; README.md of the folder above describes its command
// line.
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <thread>

#include "host/base/format.h"
#include "host/base/processes/process.h"
#include "host/base/text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/kit/subject_arguments.h"
#include "host/conformance/program/protocol.h"
#include "host/manifest/installation.h"
#include "host/plugin/calls/crash_handler.h"
#include "host/plugin/calls/exit_guard.h"

// The functions by which a plugin could end the process without its exit handlers.
extern "C" {
[[gnu::noreturn]] void _exit(int status) { ephost::plugin::end_process("_exit", status); }
[[gnu::noreturn]] void _Exit(int status) noexcept { ephost::plugin::end_process("_Exit", status); }
}

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;

Status unknown(std::string_view what, std::string_view name) {
  return Status(StatusCode::kInvalidArgument, formatted("there is no {} {}", what, quote(name)));
}

// Whether there are processes that the plugin has started, directly or by others that have ended
// since, and that do not end by themselves. A process group does not tell: a process that calls
// setsid leaves it.
bool has_left_processes() {
  for (int i = 0; i < 40; ++i) {
    reap_children();
    if (child_processes().empty()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const ProcessId child : child_processes()) kill_process(child);
  return true;
}

// Writes to the descriptor of --answer, or else to standard output.
int answer(int descriptor, std::string_view text) {
  if (descriptor < 0) descriptor = kStandardOutput;
  return write_all(descriptor, text) ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Folders with the plugins that were installed with this program, which lies in ephost/ of the
// folder that has the library.
std::vector<fs::path> installed_plugins() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  const fs::path library = self.parent_path().parent_path() / "libephost.so.0";
  return manifest::install_directories_of(library, manifest::CodeFile::kSharedLibrary);
}

int run_check(const Check& check, ParsedArguments arguments) {
  Subject& subject = arguments.subject;
  for (fs::path& path : installed_plugins()) subject.plugin_paths.push_back(std::move(path));
  subject.plugin_paths.insert(subject.plugin_paths.begin(), subject.manifest.parent_path());
  // Memory that is not written is filled with another byte in each run, and so is what was freed:
  // code that still reads it gets other numbers.
  ::mallopt(M_PERTURB, static_cast<int>(1 + subject.seed % 255));
  Report report;
  try {
    check.run(subject, report);
  } catch (const std::exception& error) {
    report.fail(formatted("the check ended with an exception: {}", error.what()),
                "this is a defect of the kit, unless memory ran out; report it");
  }
  if (has_left_processes()) {
    report.fail("processes that the plugin started were still there afterwards",
                "end and wait for every process that the plugin starts");
  }
  return answer(arguments.answer, report_json(report));
}

// 'R' and the result, or 'E' and an exception's text.
int run_part_here(const Part& part, const ParsedArguments& arguments) {
  std::string said;
  try {
    said = "R" + part.run(arguments.subject, arguments.rest);
  } catch (const std::exception& error) {
    said = formatted("E{}", error.what());
  }
  return answer(arguments.answer, said);
}

// The modes that answer about files and checks, and run nothing.
bool describes(std::string_view mode) {
  return mode == "list" || mode == "plugins" || mode == "exclusions";
}

Result<std::string> describe(std::span<char* const> words) {
  const std::string_view mode = words[0];
  if (mode == "list" && words.size() == 1) return list_json();
  if (mode == "plugins" && words.size() == 2) return plugins_json(words[1]);
  if (mode == "exclusions" && words.size() == 2) return exclusions_json(words[1]);
  return Status(StatusCode::kInvalidArgument, formatted("{} has other arguments", mode));
}

Result<int> run(std::span<char* const> words) {
  const std::string_view mode = words.empty() ? "" : words[0];
  if (words.size() < 2) {
    return Status(StatusCode::kInvalidArgument,
                  "this program belongs to \"ephost validate\", which starts it");
  }
  const std::string_view name = words[1];
  EPHOST_ASSIGN_OR_RETURN(ParsedArguments arguments, parse_arguments(words.subspan(2)));
  if (mode == "check") {
    const std::vector<Check> checks = all_checks();
    const auto found = std::ranges::find_if(
        checks, [&](const Check& check) { return name == check.name || name == id_of(check); });
    if (found == checks.end()) return unknown("check", name);
    return run_check(*found, std::move(arguments));
  }
  const std::vector<Part> parts = all_parts();
  const auto found = std::ranges::find(parts, name, &Part::name);
  if (mode != "part" || found == parts.end()) return unknown(mode, name);
  return run_part_here(*found, arguments);
}

// "--answer DESCRIPTOR" at the end of the words, which is taken from there; -1 without it.
int take_answer(std::span<char* const>& words) {
  if (words.size() < 2 || std::string_view(words[words.size() - 2]) != "--answer") return -1;
  const int descriptor = std::atoi(words.back());
  words = words.first(words.size() - 2);
  return descriptor;
}

int run_and_answer(std::span<char* const> words) {
  const std::span<char* const> all = words;
  const int descriptor = take_answer(words);
  if (!words.empty() && describes(words[0])) {
    const Result<std::string> json = describe(words);
    const int written = answer(descriptor, json.ok() ? *json : error_json(json.status()));
    return json.ok() ? written : kUsage;
  }
  const Result<int> status = run(all);
  if (status.ok()) return *status;
  (void)answer(descriptor, error_json(status.status()));
  return kUsage;
}

}  // namespace
}  // namespace ephost::conformance

int main(int argc, char** argv) {
  // Nothing stays behind when the command is killed, and a crash leaves no core file.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Processes that a plugin leaves behind become children of this one, wherever they go.
  ephost::set_adopts_orphans(true);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGPIPE, SIG_IGN);
  // Checks run beside each other. Threads of OpenMP that spin while they wait would take the
  // processor from those that they wait for.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  // Checks continue whatever the plugin has done: they judge it themselves.
  ::setenv("EPHOST_QUARANTINE", "off", 1);
  const ephost::plugin::CrashHandler crash_handler;
  ephost::plugin::arm_exit_guard(EXIT_FAILURE);
  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  return ephost::conformance::run_and_answer(words.subspan(1));
}
