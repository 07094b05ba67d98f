// The requests of session options for providers, as the module that chooses plugins takes them.
#pragma once

#include <ephost/status.h>
#include <ephost/types/session_options.h>

#include <span>
#include <vector>

#include "host/manifest/choose.h"
#include "host/manifest/search.h"
#include "host/manifest/selection.h"
#include "host/session/config/session_config.h"

namespace ephost::session {

// INVALID_ARGUMENT for an invalid version range.
[[nodiscard]] Result<manifest::ProviderChoice> choice_of(const ProviderRequest& request);

// The plugins for each request, in their order. NOT_FOUND and INVALID_ARGUMENT as
// manifest::choose_providers.
[[nodiscard]] Result<std::vector<manifest::ChosenProvider>> choose_providers(
    const manifest::SearchResult& plugins, std::span<const ProviderRequest> requests);

// The options that are given for a provider, and those that the session's configuration has for it:
// `nan`, if its manifest has that option with the value of session.nan.
[[nodiscard]] manifest::KeyValues with_session_options(manifest::KeyValues given,
                                                       const manifest::Manifest& manifest,
                                                       const SessionConfig& config);

// INVALID_ARGUMENT if the configuration sets something for a provider that no plugin offers, such
// as session.isolation.PROVIDER with a misspelt name.
[[nodiscard]] Status check_named_providers(const manifest::SearchResult& plugins,
                                           const SessionConfig& config);

// Whether the CPU provider is among them. Every session has it.
[[nodiscard]] bool has_cpu_provider(std::span<const manifest::ChosenProvider> chosen);
[[nodiscard]] Result<manifest::ChosenProvider> choose_cpu_provider(
    const manifest::SearchResult& plugins);

}  // namespace ephost::session
