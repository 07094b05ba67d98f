#include "host/session/plugins/provider_requests.h"

#include <ephost/types/environment.h>

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/format.h"

namespace ephost::session {

Result<manifest::ProviderChoice> choice_of(const ProviderRequest& request) {
  manifest::VersionRange range;
  if (!request.version_range.empty()) {
    EPHOST_ASSIGN_OR_RETURN(range, manifest::VersionRange::parse(request.version_range));
  }
  return manifest::ProviderChoice{request.name, std::move(range), request.options, request.devices};
}

Result<std::vector<manifest::ChosenProvider>> choose_providers(
    const manifest::SearchResult& plugins, std::span<const ProviderRequest> requests) {
  manifest::Selection selection;
  for (const ProviderRequest& request : requests) {
    EPHOST_ASSIGN_OR_RETURN(manifest::ProviderChoice choice, choice_of(request));
    selection.providers.push_back(std::move(choice));
  }
  return manifest::choose_providers(plugins, selection);
}

manifest::KeyValues with_session_options(manifest::KeyValues given,
                                         const manifest::Manifest& manifest,
                                         const SessionConfig& config) {
  constexpr std::string_view kNan = "nan";
  const bool is_given =
      std::ranges::any_of(given, [&](const auto& option) { return option.first == kNan; });
  const bool is_known = std::ranges::any_of(manifest.options, [&](const auto& option) {
    return option.name == kNan &&
           std::ranges::find(option.choices, config.nan) != option.choices.end();
  });
  if (is_known && !is_given) given.emplace_back(kNan, config.nan);
  return given;
}

Status check_named_providers(const manifest::SearchResult& plugins, const SessionConfig& config) {
  const auto check = [&](std::string_view prefix, const auto& of_providers) -> Status {
    for (const auto& [name, stated] : of_providers) {
      EPHOST_RETURN_IF_ERROR(manifest::check_is_offered(
          plugins, name, formatted("configuration entry \"{}{}\"", prefix, name)));
    }
    return {};
  };
  EPHOST_RETURN_IF_ERROR(check(kIsolationPrefix, config.isolation.of_providers));
  EPHOST_RETURN_IF_ERROR(check(kReadablePrefix, config.isolation.readable.of_providers));
  EPHOST_RETURN_IF_ERROR(check(kWritablePrefix, config.isolation.writable.of_providers));
  EPHOST_RETURN_IF_ERROR(check(kOnCrashPrefix, config.on_crash.of_providers));
  return check(kLayersPrefix, config.provider_layers);
}

bool has_cpu_provider(std::span<const manifest::ChosenProvider> chosen) {
  return std::ranges::any_of(chosen, [](const manifest::ChosenProvider& choice) {
    return choice.candidates.provider() == kCpuProvider;
  });
}

Result<manifest::ChosenProvider> choose_cpu_provider(const manifest::SearchResult& plugins) {
  EPHOST_ASSIGN_OR_RETURN(manifest::Candidates cpu,
                          manifest::find_candidates(plugins, {.name = std::string(kCpuProvider)}));
  return manifest::ChosenProvider{.candidates = std::move(cpu)};
}

}  // namespace ephost::session
