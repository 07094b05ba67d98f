// The part of the sandbox that a seccomp filter enforces: which system calls fail. Private to this
// module.
#pragma once

#include <ephost/status.h>

#include "host/worker/process/sandbox.h"

namespace ephost::worker {

// The same contract as that of the functions in file_rules.h.
[[nodiscard]] Status restrict_system_calls(SandboxReport& report);
void probe_system_calls(SandboxReport& report);

}  // namespace ephost::worker
