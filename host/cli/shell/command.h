// The subcommands of `ephost`: each file declares one, with its arguments, and returns the function
// that runs it. Their list is here; main.cc picks one.
#pragma once

#include <ephost/status.h>

#include <vector>

#include "host/cli/arguments/argument_parser.h"
#include "host/cli/arguments/exit_status.h"
#include "host/cli/shell/command_line.h"

namespace ephost::cli {

struct Command {
  ArgumentParser parser;
  Work run;
};

// Runs the one that the command line names.
[[nodiscard]] inline Result<int> run_chosen(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (command.parser.is_chosen()) return command.run();
  }
  return kExitUsage;
}

[[nodiscard]] Command add_list(ArgumentParser& root);
[[nodiscard]] Command add_inspect(ArgumentParser& root);
[[nodiscard]] Command add_check_selection(ArgumentParser& root);
[[nodiscard]] Command add_devices(ArgumentParser& root);
[[nodiscard]] Command add_partition(ArgumentParser& root);
[[nodiscard]] Command add_plan(ArgumentParser& root);
[[nodiscard]] Command add_compile(ArgumentParser& root);
[[nodiscard]] Command add_run(ArgumentParser& root);
[[nodiscard]] Command add_test(ArgumentParser& root);
[[nodiscard]] Command add_bench(ArgumentParser& root);
[[nodiscard]] Command add_verify(ArgumentParser& root);
[[nodiscard]] Command add_validate(ArgumentParser& root);
[[nodiscard]] Command add_cache(ArgumentParser& root);
[[nodiscard]] Command add_quarantine(ArgumentParser& root);
[[nodiscard]] Command add_config(ArgumentParser& root);
[[nodiscard]] Command add_keygen(ArgumentParser& root);
[[nodiscard]] Command add_sign(ArgumentParser& root);
[[nodiscard]] Command add_trust(ArgumentParser& root);
[[nodiscard]] Command add_new_plugin(ArgumentParser& root);

}  // namespace ephost::cli
