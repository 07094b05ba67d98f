// The command line `ephost`: parses it, runs one subcommand, prints its failure.
#include <CLI/CLI.hpp>
#include <exception>
#include <vector>

#include "host/cli/command.h"
#include "host/cli/output.h"

namespace ephost::cli {
namespace {

int usage_error(const CLI::App& root, const CLI::ParseError& error) {
  std::string command = root.get_name();
  for (const CLI::App* chosen : root.get_subcommands()) command += " " + chosen->get_name();
  print_error(Status(StatusCode::kInvalidArgument,
                     std::string(error.what()) + "; see \"" + command + " --help\""));
  return kExitUsage;
}

std::vector<Command> add_commands(CLI::App& root) {
  return {add_list(root),    add_inspect(root), add_partition(root), add_plan(root),
          add_compile(root), add_run(root),     add_test(root),      add_bench(root),
          add_verify(root),  add_cache(root)};
}

int run(int argc, char** argv) {
  CLI::App root("Runs ONNX models over execution-provider plugins.", "ephost");
  root.set_version_flag("--version", "ephost " EPHOST_VERSION);
  root.require_subcommand(1);
  root.get_formatter()->column_width(36);
  const std::vector<Command> commands = add_commands(root);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come as "errors" with status 0.
    if (error.get_exit_code() == 0) return root.exit(error);
    return usage_error(root, error);
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const Result<int> status = command.run();
    if (!status.ok()) {
      print_error(status.status());
      return kExitFailure;
    }
    const Status written = flush_output();
    if (!written.ok()) print_error(written);
    return written.ok() ? *status : kExitFailure;
  }
  return kExitUsage;
}

}  // namespace
}  // namespace ephost::cli

int main(int argc, char** argv) {
  try {
    return ephost::cli::run(argc, argv);
  } catch (const std::exception& error) {
    ephost::cli::print_error(ephost::Status(ephost::StatusCode::kFail, error.what()));
    return ephost::cli::kExitFailure;
  }
}
