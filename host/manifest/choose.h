// Matches the providers that a selection wants with the plugins that are installed.
#pragma once

#include <vector>

#include "ephost/status.h"
#include "host/manifest/search.h"
#include "host/manifest/selection.h"

namespace ephost::manifest {

struct ChosenPlugin {
  FoundPlugin plugin;
  KeyValues options;  // as the selection gives them; validate_options checks them
};

// The highest version in the wanted range among the plugins whose provider is called `choice.name`:
// by type name, or else by short name, whose case does not matter. NOT_FOUND says what was wanted,
// what is installed, what was skipped and where it was searched; INVALID_ARGUMENT when several
// providers share the short name.
[[nodiscard]] Result<FoundPlugin> choose_plugin(const SearchResult& plugins,
                                                const ProviderChoice& choice);

// One plugin for each provider of the selection, in its order. INVALID_ARGUMENT when two of its
// names mean the same provider.
[[nodiscard]] Result<std::vector<ChosenPlugin>> choose_plugins(const SearchResult& plugins,
                                                               const Selection& selection);

}  // namespace ephost::manifest
