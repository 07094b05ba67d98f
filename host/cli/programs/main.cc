// The command line `ephost`: parses it and runs one subcommand.
#include <utility>
#include <vector>

#include "host/cli/documentation/examples.h"
#include "host/cli/shell/command.h"
#include "host/cli/shell/command_line.h"

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
  add_examples(root);
  return [commands = std::move(commands)] { return run_chosen(commands); };
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
