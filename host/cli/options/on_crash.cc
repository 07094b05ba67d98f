#include "host/cli/options/on_crash.h"

#include <string_view>

#include "host/cli/options/options.h"

namespace ephost::cli {
namespace {

// With the name of a provider behind it.
constexpr std::string_view kOnCrashPrefix = "session.on_crash.";

}  // namespace

void add_entry(const std::string& key, const std::string& word, const Environment& environment,
               SessionOptions& options) {
  options.add_config_entry(key, word);
  if (!key.starts_with(kOnCrashPrefix)) return;
  const auto provider_of = [&](const std::string& entry) {
    return provider_behind(entry.substr(kOnCrashPrefix.size()), environment);
  };
  const OptionList known = options.config_entries();
  for (const auto& [other, value] : known) {
    if (other.starts_with(kOnCrashPrefix) && provider_of(other) == provider_of(key)) {
      options.add_config_entry(other, word);
    }
  }
}

void fail_on_crash(SessionOptions& options) {
  const OptionList known = options.config_entries();
  for (const auto& [key, value] : known) {
    if (key.starts_with(kOnCrashPrefix)) options.add_config_entry(key, "fail");
  }
  options.add_config_entry("session.on_crash", "fail");
}

}  // namespace ephost::cli
