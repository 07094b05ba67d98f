// The command line `ephost`: parses it and runs one subcommand.
#include <algorithm>
#include <vector>

#include "host/cli/command.h"
#include "host/cli/command_line.h"

namespace ephost::cli {
namespace {

Work declare(ArgumentParser& root) {
  root.version("ephost " EPHOST_VERSION);
  root.require_subcommand();
  std::vector<Command> commands = {
      add_list(root),       add_inspect(root),    add_check_selection(root),
      add_devices(root),    add_partition(root),  add_plan(root),
      add_compile(root),    add_run(root),        add_test(root),
      add_bench(root),      add_verify(root),     add_validate(root),
      add_cache(root),      add_quarantine(root), add_config(root),
      add_new_plugin(root), add_keygen(root),     add_sign(root),
      add_trust(root)};
  return [commands = std::move(commands)] {
    const auto is_chosen = [](const Command& command) { return command.parser.is_chosen(); };
    return std::ranges::find_if(commands, is_chosen)->run();
  };
}

}  // namespace
}  // namespace ephost::cli

int main(int argc, char** argv) {
  using namespace ephost::cli;
  return run_program({.name = "ephost",
                      .description = "Runs ONNX models on execution-provider plugins.",
                      .declare = declare},
                     argc, argv);
}
