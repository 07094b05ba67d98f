// A child process that starts as a copy of this one and runs a function.
#pragma once

#include <ephost/status.h>

#include <functional>
#include <string>

#include "host/cli/report/json.h"

namespace ephost::cli {

// The result of `work` in a child process, which then ends without running destructors or exit
// handlers. Meanwhile the terminal shows `activity`, unless that is empty. This process must not
// have other threads. FAIL if the child cannot be started or dies.
[[nodiscard]] Result<Json> in_child(const std::string& activity,
                                    const std::function<Result<Json>()>& work);

}  // namespace ephost::cli
