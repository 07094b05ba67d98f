// Start of a program as a child process.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/base/processes/process.h"

namespace ephost {

struct SpawnPlan {
  // A descriptor of this process, and its number in the child.
  struct Passed {
    int descriptor;
    int number;
  };

  std::filesystem::path program;
  std::vector<std::string> arguments;    // the first one is the name that the program sees
  std::vector<std::string> environment;  // "NAME=value"; empty: that of this process
  std::filesystem::path folder;          // to work in; empty: that of this process
  // The child has standard input from /dev/null and standard output and error of this process where
  // these have no others for them. It has no further descriptors.
  std::vector<Passed> descriptors;
  bool leads_group = true;  // a process group of its own
};

// The id of the child, which has all signals unblocked and at their defaults. NO_SUCHFILE if the
// program does not exist, FAIL if it cannot be started.
[[nodiscard]] Result<ProcessId> spawn(const SpawnPlan& plan);

}  // namespace ephost
