#include "host/session/recovery/on_crash.h"

#include <algorithm>

#include "host/base/text.h"

namespace ephost::session {

std::optional<OnCrash> parse_on_crash(std::string_view text) {
  const auto found = std::ranges::find(kOnCrashNames, text);
  if (found == kOnCrashNames.end()) return std::nullopt;
  return static_cast<OnCrash>(found - kOnCrashNames.begin());
}

OnCrash OnCrashConfig::of(const manifest::Manifest& manifest) const {
  for (const auto& [provider, policy] : of_providers) {
    if (equal_ignoring_case(provider, manifest.name) ||
        equal_ignoring_case(provider, manifest.provider)) {
      return policy;
    }
  }
  return all;
}

bool OnCrashConfig::has(OnCrash policy) const {
  return all == policy || std::ranges::any_of(of_providers, [&](const auto& entry) {
           return entry.second == policy;
         });
}

}  // namespace ephost::session
