#include "host/cli/shell/command_line.h"

#include <ephost/plugin_exit.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <new>
#include <string_view>

#include "host/base/log.h"
#include "host/cli/arguments/exit_status.h"
#include "host/cli/arguments/usage.h"
#include "host/cli/documentation/documentation.h"
#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

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
    if (error.get_exit_code() == 0) return app.exit(error);
    return usage_error(app, error);
  }
  return work();
}

// Prints the failure, and returns its exit status.
int fail(const Status& failure) {
  flush_log();
  const int exit_status = exit_status_of(failure);
  print_error(failure, exit_status);
  return exit_status;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  // A write beyond the file size limit is then a failure that is reported, not a signal that ends
  // the process.
  std::signal(SIGXFSZ, SIG_IGN);
  guard_against_plugin_exit(kExitPlugin);
  print_errors_as_json(asks_for_json(argc, argv));
  try {
    const Result<int> exit_status = parse_and_work(program, argc, argv);
    const Status status = exit_status.ok() ? flush_output() : exit_status.status();
    if (!status.ok()) return fail(status);
    flush_log();
    return *exit_status;
  } catch (const std::bad_alloc&) {
    return fail(Status(StatusCode::kOutOfMemory, "out of memory"));
  } catch (const std::exception& error) {
    return fail(Status(StatusCode::kRuntimeException, error.what()));
  }
}

}  // namespace ephost::cli
