// The reaction of a session to the end of a provider's worker: session.on_crash and
// session.on_crash.PROVIDER.
#pragma once

#include <ephost/status.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "host/manifest/manifest.h"

namespace ephost::session {

enum class OnCrash {
  kFail,      // runs fail from then on
  kRestart,   // the provider gets a new worker
  kFallback,  // the next providers take its nodes
};

inline constexpr std::array<std::string_view, 3> kOnCrashNames = {"fail", "restart", "fallback"};

[[nodiscard]] std::optional<OnCrash> parse_on_crash(std::string_view text);

struct OnCrashConfig {
  OnCrash all = OnCrash::kFail;
  // By type name or short name, in place of the above.
  std::map<std::string, OnCrash> of_providers = {};

  // INVALID_ARGUMENT if the two names of a provider have different policies. To be called before
  // `of` is.
  [[nodiscard]] Status check(const manifest::Manifest& manifest) const;
  [[nodiscard]] OnCrash of(const manifest::Manifest& manifest) const;
  // Whether some provider has the policy.
  [[nodiscard]] bool has(OnCrash policy) const;
  // Whether anything but a failure is to follow from the end of a worker.
  [[nodiscard]] bool recovers() const { return has(OnCrash::kRestart) || has(OnCrash::kFallback); }
};

}  // namespace ephost::session
