// The choice of installed plugins for the providers and layers that a session asks for.
#pragma once

#include <ephost/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/manifest/search.h"
#include "host/manifest/selection.h"

namespace ephost::manifest {

// The plugins that offer one provider or layer, all within the wanted version range.
struct Candidates {
  // Not empty; the highest version first. Of equal versions, the one that was found first.
  std::vector<FoundPlugin> plugins;
  // Skipped manifests that may have been of this provider and within the range.
  std::vector<SkippedManifest> skipped;

  [[nodiscard]] const std::string& provider() const { return plugins.front().manifest.subject(); }
};

struct ChosenProvider {
  Candidates candidates;
  KeyValues options;                 // as in the selection; validate_options checks them
  std::vector<std::string> devices;  // as in the selection
};

// Returns the plugins whose provider is called `choice.name`, by type name or else by short name,
// ignoring case. NOT_FOUND says what was wanted, what is installed, what was skipped and which
// directories were searched; INVALID_ARGUMENT if several providers share the short name.
[[nodiscard]] Result<Candidates> find_candidates(const SearchResult& plugins,
                                                 const ProviderChoice& choice);

// INVALID_ARGUMENT if no plugin, of whatever version, offers a provider of that name, so that
// `what`, such as "the entry x", has no effect.
[[nodiscard]] Status check_is_offered(const SearchResult& plugins, std::string_view name,
                                      std::string_view what);

// INVALID_ARGUMENT: a layer is named where a provider is expected.
[[nodiscard]] Status is_a_layer(const Manifest& manifest);

// Whether the host has the layer, so that no plugin is needed.
[[nodiscard]] bool is_host_layer(std::string_view name);

// Returns the plugins with the layer `name`, which is not one of the host's. INVALID_ARGUMENT names
// the layers that there are; or the two plugins, if several vendors ship one of that name.
[[nodiscard]] Result<Candidates> find_layer(const SearchResult& plugins, std::string_view name);

// Returns the plugins for each provider of the selection, in its order. INVALID_ARGUMENT if two of
// its names mean the same provider.
[[nodiscard]] Result<std::vector<ChosenProvider>> choose_providers(const SearchResult& plugins,
                                                                   const Selection& selection);

}  // namespace ephost::manifest
