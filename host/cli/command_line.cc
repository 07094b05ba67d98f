#include "host/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <string>

#include "host/cli/command.h"
#include "host/cli/report/output.h"
#include "host/plugin/exit_guard.h"

namespace ephost::cli {
namespace {

int usage_error(const CLI::App& root, const CLI::ParseError& error) {
  std::string command = root.get_name();
  for (const CLI::App* chosen : root.get_subcommands()) command += " " + chosen->get_name();
  print_error(Status(StatusCode::kInvalidArgument,
                     std::string(error.what()) + "; see \"" + command + " --help\""));
  return kExitUsage;
}

}  // namespace

int run_program(CLI::App& root, int argc, char** argv, const std::function<Result<int>()>& work) {
  // A file that grows beyond its limit is a failed write, which is reported, and not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  plugin::arm_exit_guard(kExitFailure);
  try {
    root.parse(argc, argv);
    const Result<int> exit_status = work();
    Status status = exit_status.ok() ? flush_output() : exit_status.status();
    if (status.ok()) return *exit_status;
    print_error(status);
  } catch (const CLI::ParseError& error) {
    // Help and version come as "errors" with status 0.
    return error.get_exit_code() == 0 ? root.exit(error) : usage_error(root, error);
  } catch (const std::exception& error) {
    print_error(Status(StatusCode::kFail, error.what()));
  }
  return kExitFailure;
}

}  // namespace ephost::cli
