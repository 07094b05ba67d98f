// The main function that the programs share: it reads the command line and determines the exit
// status.
#pragma once

#include <ephost/status.h>

#include <functional>
#include <string>

#include "host/cli/arguments/argument_parser.h"

namespace ephost::cli {

// Does what the command line asked for. Returns the exit status; a failure is printed and gives one
// by exit_status.h.
using Work = std::function<Result<int>()>;

struct Program {
  std::string name;
  std::string description;
  // Declares the arguments, and returns what to do once they are parsed.
  std::function<Work(ArgumentParser& root)> declare;
};

// Declares and parses the command line, does the work, and makes sure that everything printed
// reached standard output. Failures and exceptions of all these are printed, as JSON where the
// command line asks for it. Returns the exit status: that of the work or of the failure.
[[nodiscard]] int run_program(const Program& program, int argc, char** argv);

}  // namespace ephost::cli
