#include "host/session/config/on_crash.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/manifest/names.h"

namespace ephost::session {

std::optional<OnCrash> parse_on_crash(std::string_view text) {
  const auto found = std::ranges::find(kOnCrashNames, text);
  if (found == kOnCrashNames.end()) return std::nullopt;
  return static_cast<OnCrash>(found - kOnCrashNames.begin());
}

Status OnCrashConfig::check(const manifest::Manifest& manifest) const {
  const std::pair<const std::string, OnCrash>* first = nullptr;
  for (const auto& entry : of_providers) {
    if (!manifest::names_provider(entry.first, manifest.provider, manifest.name)) continue;
    if (first == nullptr) first = &entry;
    if (first->second == entry.second) continue;
    return Status(
        StatusCode::kInvalidArgument,
        formatted(
            "session.on_crash.{}={} and session.on_crash.{}={} are both for {}; set one of them",
            first->first, kOnCrashNames[static_cast<size_t>(first->second)], entry.first,
            kOnCrashNames[static_cast<size_t>(entry.second)], manifest.provider));
  }
  return Status::ok_status();
}

OnCrash OnCrashConfig::of(const manifest::Manifest& manifest) const {
  for (const auto& [provider, policy] : of_providers) {
    if (manifest::names_provider(provider, manifest.provider, manifest.name)) return policy;
  }
  return all;
}

bool OnCrashConfig::has(OnCrash policy) const {
  return all == policy || std::ranges::any_of(of_providers, [&](const auto& entry) {
           return entry.second == policy;
         });
}

}  // namespace ephost::session
