// Policies on plugins and context models without a trusted signature, and on where plugins run:
// those of a program, of a user and of the machine, of which the strictest counts.
// manifests/SCHEMA.md documents the machine's file.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "host/trust/own_files.h"
#include "host/trust/quarantine_policy.h"

namespace ephost::trust {

// "off", "warn" or "require"; nothing for any other text.
[[nodiscard]] std::optional<SignaturePolicy> parse_signature_policy(std::string_view text);
[[nodiscard]] std::string_view signature_policy_name(SignaturePolicy policy);
[[nodiscard]] SignaturePolicy strictest(SignaturePolicy one, SignaturePolicy other);

// What holds for every user of the machine.
struct MachinePolicy {
  SignaturePolicy signatures = SignaturePolicy::kOff;
  bool user_keys = true;  // whether keys that users trust count, besides the machine's
  Isolation isolation = Isolation::kNone;  // of all plugins, at least
  std::optional<QuarantinePolicy> quarantine;
  std::filesystem::path file;  // with all this; empty if there is none
};

// /etc/ephost/policy.yaml.
[[nodiscard]] const std::filesystem::path& machine_policy_file();

// Without the file, the defaults. INVALID_ARGUMENT if it is not a policy, FAIL if it cannot be
// read, or if others than `owner` may write it or, where it is missing, may have removed it from
// its folder.
[[nodiscard]] Result<MachinePolicy> load_machine_policy(const std::filesystem::path& file,
                                                        Owner owner = Owner::kRoot);

// The policy of EPHOST_SIGNATURES; off where it is not set, and in a privileged process.
// INVALID_ARGUMENT for another text.
[[nodiscard]] Result<SignaturePolicy> policy_of_environment();
// The same for EPHOST_ISOLATION.
[[nodiscard]] Result<Isolation> isolation_of_environment();

}  // namespace ephost::trust
