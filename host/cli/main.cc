// The command line `ephost`: parses it and runs one subcommand.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "host/cli/command.h"
#include "host/cli/command_line.h"

int main(int argc, char** argv) {
  using namespace ephost::cli;
  CLI::App root("Runs ONNX models over execution-provider plugins.", "ephost");
  root.set_version_flag("--version", "ephost " EPHOST_VERSION);
  root.require_subcommand(1);
  root.get_formatter()->column_width(36);
  const std::vector<Command> commands = {
      add_list(root), add_inspect(root), add_partition(root), add_plan(root),   add_compile(root),
      add_run(root),  add_test(root),    add_bench(root),     add_verify(root), add_cache(root)};
  return run_program(root, argc, argv, [&] {
    const auto is_chosen = [](const Command& command) { return command.app->parsed(); };
    return std::ranges::find_if(commands, is_chosen)->run();
  });
}
