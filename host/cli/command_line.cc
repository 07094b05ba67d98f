#include "host/cli/command_line.h"

#include <ephost/plugin_exit.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <string_view>

#include "host/base/format.h"
#include "host/cli/command.h"
#include "host/cli/documentation/documentation.h"
#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

int usage_error(const CLI::App& root, const CLI::ParseError& error) {
  std::string command = root.get_name();
  for (const CLI::App* chosen : root.get_subcommands()) command += " " + chosen->get_name();
  print_error(Status(StatusCode::kInvalidArgument,
                     formatted("{}; see \"{} --help\"", error.what(), command)));
  return kExitUsage;
}

Result<int> parse_and_work(const Program& program, int argc, char** argv) {
  CLI::App app(program.description, program.name);
  app.get_formatter()->column_width(36);
  ArgumentParser root(&app);
  const Work work = program.declare(root);
  if (argc == 3 && std::string_view(argv[1]) == kWriteDocumentation) {
    EPHOST_RETURN_IF_ERROR(write_documentation(describe_command(app), argv[2]));
    return kExitSuccess;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come as "errors" with exit code 0.
    return error.get_exit_code() == 0 ? app.exit(error) : usage_error(app, error);
  }
  return work();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  // A write beyond the file size limit is then a failure that is reported, not a signal that ends
  // the process.
  std::signal(SIGXFSZ, SIG_IGN);
  guard_against_plugin_exit(kExitFailure);
  try {
    const Result<int> exit_status = parse_and_work(program, argc, argv);
    const Status status = exit_status.ok() ? flush_output() : exit_status.status();
    if (status.ok()) return *exit_status;
    print_error(status);
  } catch (const std::exception& error) {
    print_error(Status(StatusCode::kFail, error.what()));
  }
  return kExitFailure;
}

}  // namespace ephost::cli
