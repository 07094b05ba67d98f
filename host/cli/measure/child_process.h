// Work in a process of its own, which starts as a copy of this one.
#pragma once

#include <ephost/status.h>

#include <functional>
#include <string>

#include "host/cli/report/json.h"

namespace ephost::cli {

// What `work` returns when a child process calls it, which then ends without cleaning up. Meanwhile
// the terminal says `activity`, unless that is empty. This process must not have other threads.
// FAIL where the child cannot be started or dies.
[[nodiscard]] Result<Json> in_child(const std::string& activity,
                                    const std::function<Result<Json>()>& work);

}  // namespace ephost::cli
