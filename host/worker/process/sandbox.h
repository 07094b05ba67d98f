// The sandbox of a worker. What it may do: read and write the files that were listed, compute, and
// talk to the host. No network, no other files, no new processes, no signals to or looks into other
// processes.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ephost::worker {

// Files, and folders with all that is in them. What does not exist is left out. Always readable are
// the folders of the system's libraries, the loader's cache, /proc/self, and what programs need to
// find out about processors, memory and the time zone; see host/worker/README.md.
struct SandboxRules {
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> writable;  // also readable; files may be created and removed

  // A line for each.
  [[nodiscard]] std::string text() const;
};

// What the kernel could not enforce, one sentence each; empty if everything is.
struct SandboxReport {
  std::vector<std::string> missing;
};

// Restricts the calling thread and all threads that it starts later, for good: call it before there
// are others. FAIL when something that the kernel supports could not be applied; what it does not
// support is in the report.
[[nodiscard]] Result<SandboxReport> enter_sandbox(const SandboxRules& rules);

// What enter_sandbox would report, without entering: for `inspect`.
[[nodiscard]] SandboxReport probe_sandbox();

}  // namespace ephost::worker
