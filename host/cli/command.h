// What the subcommands of `ephost` have in common: each file declares one, with its options, and
// hands back what runs it. Exit statuses and the list of subcommands are here; main.cc picks one.
#pragma once

#include <ephost/status.h>

#include <functional>

namespace CLI {
class App;
}  // namespace CLI

namespace ephost::cli {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnchecked =
    3;  // `verify`: nothing is wrong, but not all could be checked

struct Command {
  CLI::App* app = nullptr;
  // Returns the exit status. A failure is printed by the program and makes it kExitFailure.
  std::function<Result<int>()> run;
};

[[nodiscard]] Command add_list(CLI::App& root);
[[nodiscard]] Command add_inspect(CLI::App& root);
[[nodiscard]] Command add_partition(CLI::App& root);
[[nodiscard]] Command add_plan(CLI::App& root);
[[nodiscard]] Command add_compile(CLI::App& root);
[[nodiscard]] Command add_run(CLI::App& root);
[[nodiscard]] Command add_test(CLI::App& root);
[[nodiscard]] Command add_bench(CLI::App& root);
[[nodiscard]] Command add_verify(CLI::App& root);
[[nodiscard]] Command add_cache(CLI::App& root);

}  // namespace ephost::cli
