#include "host/trust/quarantine_policy.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "host/base/environment.h"
#include "host/base/files/failure_records.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/trust/policy.h"

namespace ephost::trust {

Result<QuarantinePolicy> parse_quarantine_policy(std::string_view text, std::string_view what) {
  if (text == "off") return QuarantinePolicy{.failures = 0};
  constexpr int64_t kMostSeconds = int64_t{366} * 24 * 3600;
  QuarantinePolicy policy;
  int64_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto failures = std::from_chars(text.data(), end, policy.failures);
  const bool has_period = failures.ec == std::errc() && failures.ptr != end && *failures.ptr == '/';
  const auto period = has_period ? std::from_chars(failures.ptr + 1, end, seconds) : failures;
  if (!has_period || period.ec != std::errc() || period.ptr != end || policy.failures == 0 ||
      policy.failures > FailureRecords::kMostRecords || seconds < 1 || seconds > kMostSeconds) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} cannot be {}; set it to \"off\", or to a number of failures up to "
                            "{} and the seconds in which they count, such as \"3/600\"",
                            what, quote(text), FailureRecords::kMostRecords));
  }
  policy.period = std::chrono::seconds(seconds);
  return policy;
}

std::string quarantine_policy_text(const QuarantinePolicy& policy) {
  if (policy.failures == 0) return "off";
  return formatted("{}/{}", policy.failures, policy.period.count());
}

QuarantinePolicy strictest(const QuarantinePolicy& one, const QuarantinePolicy& other) {
  if (one.failures == 0) return other;
  if (other.failures == 0) return one;
  return {std::min(one.failures, other.failures), std::max(one.period, other.period)};
}

Result<ProcessQuarantine> quarantine_of_process(const MachinePolicy& machine) {
  ProcessQuarantine process;
  std::optional<QuarantinePolicy> stated;
  const char* const text = environment_value("EPHOST_QUARANTINE");
  if (text != nullptr && *text != '\0') {
    EPHOST_ASSIGN_OR_RETURN(stated, parse_quarantine_policy(text, "EPHOST_QUARANTINE"));
    process.origins.emplace_back("EPHOST_QUARANTINE");
  }
  if (machine.quarantine) {
    stated = stated ? strictest(*stated, *machine.quarantine) : *machine.quarantine;
    process.origins.push_back(machine.file.native());
  }
  if (stated) process.policy = *stated;
  return process;
}

}  // namespace ephost::trust
