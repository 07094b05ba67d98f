// The number of failures of a plugin, and the time, after which it is quarantined
// (host/plugin/quarantine.h): the policies of the process, of the machine and of a session, of
// which the strictest counts. manifests/SCHEMA.md documents where they are stated.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::trust {

struct QuarantinePolicy {
  uint32_t failures = 3;  // 0: no plugin is ever quarantined, and nothing is recorded
  std::chrono::seconds period{600};

  friend bool operator==(const QuarantinePolicy&, const QuarantinePolicy&) = default;
};

// "off", or a number of failures and of seconds: "3/600". INVALID_ARGUMENT for another text, of
// which the message says that `what` cannot be it.
[[nodiscard]] Result<QuarantinePolicy> parse_quarantine_policy(std::string_view text,
                                                               std::string_view what);
// The inverse.
[[nodiscard]] std::string quarantine_policy_text(const QuarantinePolicy& policy);

// Quarantines whatever one of the two does, and maybe more: the fewer failures of the two, over the
// longer time. Anything is stricter than "off".
[[nodiscard]] QuarantinePolicy strictest(const QuarantinePolicy& one,
                                         const QuarantinePolicy& other);

struct MachinePolicy;

// The policy of a process.
struct ProcessQuarantine {
  QuarantinePolicy policy;           // the default where none is set
  std::vector<std::string> origins;  // where it is set: "EPHOST_QUARANTINE", the path of a file
};

// The strictest of the machine's policy and of the environment variable EPHOST_QUARANTINE, which a
// privileged process ignores. INVALID_ARGUMENT for a text of the variable that is not a policy.
[[nodiscard]] Result<ProcessQuarantine> quarantine_of_process(const MachinePolicy& machine);

}  // namespace ephost::trust
