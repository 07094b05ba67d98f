#include "host/worker/process/sandbox.h"

#include <sys/prctl.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/format.h"
#include "host/worker/process/file_rules.h"
#include "host/worker/process/system_calls.h"

namespace ephost::worker {

std::string SandboxRules::text() const {
  std::string text;
  for (const auto& path : readable) text += formatted("readable {}\n", path.native());
  for (const auto& path : writable) text += formatted("writable {}\n", path.native());
  return text;
}

Result<SandboxReport> enter_sandbox(const SandboxRules& rules) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Status(StatusCode::kFail, formatted("cannot give up new privileges: {}",
                                               std::generic_category().message(errno)));
  }
  SandboxReport report;
  EPHOST_RETURN_IF_ERROR(restrict_files(rules, report));
  EPHOST_RETURN_IF_ERROR(restrict_system_calls(report));
  return report;
}

SandboxReport probe_sandbox() {
  SandboxReport report;
  probe_files(report);
  probe_system_calls(report);
  return report;
}

}  // namespace ephost::worker
