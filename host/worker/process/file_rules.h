// The part of the sandbox that the kernel's Landlock enforces: files, TCP, signals and abstract
// sockets. Private to this module.
#pragma once

#include <ephost/status.h>

#include "host/worker/process/sandbox.h"

namespace ephost::worker {

// Adds what this kernel cannot enforce to `report`; FAIL if it refuses what it should support.
[[nodiscard]] Status restrict_files(const SandboxRules& rules, SandboxReport& report);
void probe_files(SandboxReport& report);
// What Landlock of this version cannot enforce; 0: there is none.
void report_version(int version, SandboxReport& report);

}  // namespace ephost::worker
