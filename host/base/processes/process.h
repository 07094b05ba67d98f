// Processes: this one, its children, how they ended, and their end by force.
#pragma once

#include <ephost/status.h>

#include <optional>
#include <string>
#include <vector>

#include "host/base/files/file_descriptor.h"
#include "host/base/function_ref.h"

namespace ephost {

using ProcessId = int;
[[nodiscard]] ProcessId this_process() noexcept;

// Starts a copy of this process, which must have no other threads. The copy ends with the status
// that `work` returns, without destructors or exit handlers.
[[nodiscard]] Result<ProcessId> fork_process(FunctionRef<int()> work);

// How a process ended: of itself with a status, or by a signal.
struct ProcessEnd {
  int status = 0;
  int signal = 0;  // 0: none

  [[nodiscard]] bool is_success() const { return status == 0 && signal == 0; }
};
// "signal 11 (Segmentation fault)".
[[nodiscard]] std::string signal_text(int signal);

// Waits for a child and reaps it. One that was reaped elsewhere counts as a success.
ProcessEnd wait_for_end(ProcessId child);
// The end of a child that has ended, which is reaped.
[[nodiscard]] std::optional<ProcessEnd> end_so_far(ProcessId child);
// Reaps all children that have ended.
void reap_children();
// The children of all threads, among them those that were adopted.
[[nodiscard]] std::vector<ProcessId> child_processes();
// Whether processes whose parents have ended become children of this one. Not so at first.
void set_adopts_orphans(bool adopts);

// By SIGKILL.
void kill_process(ProcessId process);
void kill_group(ProcessId leader);
// Whether no process is left in the group, of which children that have ended are reaped.
[[nodiscard]] bool is_group_empty(ProcessId leader);

// A descriptor that stays that of this process even when its number is used again, and that can be
// read once it has ended. Not open, with errno set, if the system refuses.
[[nodiscard]] FileDescriptor open_process(ProcessId process);
void kill_process(const FileDescriptor& process);

}  // namespace ephost
