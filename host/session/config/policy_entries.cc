#include "host/session/config/policy_entries.h"

#include "host/manifest/isolation.h"
#include "host/session/config/session_config.h"
#include "host/trust/policy.h"
#include "host/trust/quarantine_policy.h"

namespace ephost::session {

std::string merge_entry(std::string_view key, std::string_view known, std::string value) {
  if (key == "session.signatures") {
    const auto one = trust::parse_signature_policy(known);
    const auto other = trust::parse_signature_policy(value);
    if (!one || !other) return value;
    return std::string(trust::signature_policy_name(trust::strictest(*one, *other)));
  }
  if (key == "session.quarantine") {
    const auto one = trust::parse_quarantine_policy(known, key);
    const auto other = trust::parse_quarantine_policy(value, key);
    if (!one.ok() || !other.ok()) return value;
    return trust::quarantine_policy_text(trust::strictest(*one, *other));
  }
  // The entries of limits have no word for a level.
  if (key == "session.isolation" || key.starts_with(kIsolationPrefix)) {
    const auto one = manifest::parse_isolation(known);
    const auto other = manifest::parse_isolation(value);
    if (!one || !other) return value;
    return std::string(manifest::isolation_name(manifest::stricter(*one, *other)));
  }
  return value;
}

}  // namespace ephost::session
