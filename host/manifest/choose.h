// Matches the providers that a selection wants with the plugins that are installed.
#pragma once

#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/search.h"
#include "host/manifest/selection.h"

namespace ephost::manifest {

// The plugins that offer one provider, all in the wanted range of versions.
struct Candidates {
  // Not empty; the highest version first, of equal ones the one that was found first.
  std::vector<FoundPlugin> plugins;
  // What the search skipped and what may have been of this provider and in the range.
  std::vector<SkippedManifest> skipped;

  [[nodiscard]] const std::string& provider() const { return plugins.front().manifest.provider; }
};

struct ChosenProvider {
  Candidates candidates;
  KeyValues options;  // as the selection gives them; validate_options checks them
};

// The plugins whose provider is called `choice.name`: by type name, or else by short name, whose
// case does not matter. NOT_FOUND says what was wanted, what is installed, what was skipped and
// where it was searched; INVALID_ARGUMENT when several providers share the short name.
[[nodiscard]] Result<Candidates> find_candidates(const SearchResult& plugins,
                                                 const ProviderChoice& choice);

// The plugins for each provider of the selection, in its order. INVALID_ARGUMENT when two of its
// names mean the same provider.
[[nodiscard]] Result<std::vector<ChosenProvider>> choose_providers(const SearchResult& plugins,
                                                                   const Selection& selection);

}  // namespace ephost::manifest
