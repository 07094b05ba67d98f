// What programs have in common: how they read their command line, and how they end.
#pragma once

#include <ephost/status.h>

#include <functional>

namespace CLI {
class App;
}  // namespace CLI

namespace ephost::cli {

// Parses the command line into `root`, runs `work`, and makes sure that what it printed arrived.
// Failures, exceptions too, are printed. Returns the exit status: that of `work`, kExitUsage for a
// command line that is none, kExitFailure for a failure.
[[nodiscard]] int run_program(CLI::App& root, int argc, char** argv,
                              const std::function<Result<int>()>& work);

}  // namespace ephost::cli
