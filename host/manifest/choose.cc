#include "host/manifest/choose.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/names.h"

namespace ephost::manifest {

namespace {

// `plugin` is a Manifest or a PluginIdentity.
template <class Plugin>
bool is_called(const Plugin& plugin, std::string_view name) {
  return plugin.provider == name || equal_ignoring_case(plugin.name, name);
}

std::string describe_choice(const ProviderChoice& choice) {
  const std::string& range = choice.version.to_string();
  return quote(choice.name) + (range.empty() ? "" : " with version " + range);
}

std::string describe_installed(const SearchResult& plugins) {
  std::vector<std::string> installed;
  for (const FoundPlugin& plugin : plugins.found) {
    const Manifest& manifest = plugin.manifest;
    installed.push_back(
        formatted("{} ({}) {}", manifest.provider, manifest.name, manifest.version.to_string()));
  }
  return installed.empty() ? "nothing" : join(installed, ", ");
}

// The skipped manifests that may be relevant: those of the wanted provider, and unreadable ones.
std::string describe_skipped(const SearchResult& plugins, const ProviderChoice& choice) {
  std::string text;
  for (const SkippedManifest& skipped : plugins.skipped) {
    if (skipped.identity && !is_called(*skipped.identity, choice.name)) continue;
    text += "; skipped: " + skipped.reason.message();
  }
  return text;
}

// The distinctive part of a type name.
std::string_view without_suffix(std::string_view provider) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  const size_t length = provider.size() - std::min(provider.size(), kSuffix.size());
  return equal_ignoring_case(provider.substr(length), kSuffix) ? provider.substr(0, length)
                                                               : provider;
}

// Returns "; did you mean ...?" if the name looks like a misspelling of an installed one, else an
// empty string.
std::string suggest(const SearchResult& plugins, std::string_view wanted) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> stems;
  for (const FoundPlugin& plugin : plugins.found) {
    const Manifest& manifest = plugin.manifest;
    if (is_called(manifest, wanted)) return {};
    names.insert(names.end(), {manifest.name, manifest.provider});
    stems.insert(stems.end(), {manifest.name, without_suffix(manifest.provider)});
  }
  const std::optional<std::string_view> nearest = nearest_match(without_suffix(wanted), stems);
  if (!nearest) return {};
  const auto index = std::find(stems.begin(), stems.end(), *nearest) - stems.begin();
  return formatted("; did you mean {}?", quote(names[static_cast<size_t>(index)]));
}

Status not_found(const SearchResult& plugins, const ProviderChoice& choice) {
  for (const FoundPlugin& layer : plugins.layers) {
    if (equal_ignoring_case(layer.manifest.name, choice.name)) return is_a_layer(layer.manifest);
  }
  std::vector<std::string> directories;
  for (const SearchDirectory& directory : plugins.directories) {
    directories.push_back(quote(directory.path.native()));
  }
  return Status(
      StatusCode::kNotFound,
      formatted("no plugin offers the provider {}{}; installed: {}; searched: {}{}; "
                "install its library and manifest in one of these directories or add theirs",
                describe_choice(choice), suggest(plugins, choice.name), describe_installed(plugins),
                directories.empty() ? "nowhere" : join(directories, ", "),
                describe_skipped(plugins, choice)));
}

Status several_layers(const Manifest& a, const Manifest& b) {
  return Status(
      StatusCode::kInvalidArgument,
      formatted("the layer name {} is ambiguous: {} ships one with {}, and {} another "
                "with {}; remove one of the two",
                quote(a.name), a.vendor, quote(a.file.native()), b.vendor, quote(b.file.native())));
}

Status unknown_layer(const SearchResult& plugins, std::string_view name) {
  std::vector<std::string_view> known(kHostLayers.begin(), kHostLayers.end());
  for (const FoundPlugin& layer : plugins.layers) {
    if (known.back() != layer.manifest.name) known.push_back(layer.manifest.name);
  }
  const std::optional<std::string_view> nearest = nearest_match(name, known);
  std::string skipped;
  for (const SkippedManifest& one : plugins.skipped) {
    if (!one.identity) skipped += "; skipped: " + one.reason.message();
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("there is no layer {}{}; the layers are: {}{}", quote(name),
                          nearest ? formatted("; did you mean {}?", quote(*nearest)) : "",
                          join(known, ", "), skipped));
}

Status ambiguous(const ProviderChoice& choice, const Manifest& a, const Manifest& b) {
  return Status(StatusCode::kInvalidArgument,
                formatted("the short name {} is ambiguous: it means {} from {} and {} from {}; "
                          "name one by its type name",
                          quote(choice.name), a.provider, quote(a.file.native()), b.provider,
                          quote(b.file.native())));
}

std::vector<SkippedManifest> skipped_of(const SearchResult& plugins, std::string_view provider,
                                        const VersionRange& range) {
  std::vector<SkippedManifest> skipped;
  for (const SkippedManifest& one : plugins.skipped) {
    if (!one.identity || one.identity->provider != provider) continue;
    const std::optional<Version>& version = one.identity->version;
    if (!version || range.contains(*version)) skipped.push_back(one);
  }
  return skipped;
}

}  // namespace

Status is_a_layer(const Manifest& manifest) {
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is a layer, not a provider; name it with --layer or the entry "
                          "session.layers ({})",
                          quote(manifest.name), quote(manifest.file.native())));
}

bool is_host_layer(std::string_view name) {
  return std::ranges::find(kHostLayers, name) != kHostLayers.end();
}

Result<Candidates> find_layer(const SearchResult& plugins, std::string_view name) {
  Candidates candidates;
  for (const FoundPlugin& layer : plugins.layers) {
    if (layer.manifest.name != name) continue;
    if (!candidates.plugins.empty() &&
        candidates.plugins.front().manifest.vendor != layer.manifest.vendor) {
      return several_layers(candidates.plugins.front().manifest, layer.manifest);
    }
    candidates.plugins.push_back(layer);
  }
  if (candidates.plugins.empty()) return unknown_layer(plugins, name);
  return candidates;
}

Result<Candidates> find_candidates(const SearchResult& plugins, const ProviderChoice& choice) {
  // They are sorted by type name, and there may be thousands.
  const auto provider = [](const FoundPlugin& plugin) -> const std::string& {
    return plugin.manifest.provider;
  };
  const auto first = std::ranges::lower_bound(plugins.found, choice.name, {}, provider);
  const auto last = std::ranges::upper_bound(plugins.found, choice.name, {}, provider);
  const bool by_type = first != last;
  const std::span<const FoundPlugin> searched =
      by_type ? std::span(first, last) : std::span(plugins.found);
  Candidates candidates;
  for (const FoundPlugin& plugin : searched) {
    const Manifest& manifest = plugin.manifest;
    const bool called = by_type || equal_ignoring_case(manifest.name, choice.name);
    if (!called || !choice.version.contains(manifest.version)) continue;
    if (!candidates.plugins.empty() && candidates.provider() != manifest.provider) {
      return ambiguous(choice, candidates.plugins.front().manifest, manifest);
    }
    candidates.plugins.push_back(plugin);
  }
  if (candidates.plugins.empty()) return not_found(plugins, choice);
  std::ranges::stable_sort(candidates.plugins, [](const FoundPlugin& a, const FoundPlugin& b) {
    return a.manifest.version > b.manifest.version;
  });
  candidates.skipped = skipped_of(plugins, candidates.provider(), choice.version);
  return candidates;
}

Status check_is_offered(const SearchResult& plugins, std::string_view name, std::string_view what) {
  for (const FoundPlugin& plugin : plugins.found) {
    if (names_provider(name, plugin.manifest.provider, plugin.manifest.name)) return {};
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is about the provider {}, which no plugin offers{}; installed: {}{}; "
                          "correct the name, or leave the entry out",
                          what, quote(name), suggest(plugins, name), describe_installed(plugins),
                          describe_skipped(plugins, {.name = std::string(name)})));
}

Result<std::vector<ChosenProvider>> choose_providers(const SearchResult& plugins,
                                                     const Selection& selection) {
  std::vector<ChosenProvider> chosen;
  for (const ProviderChoice& choice : selection.providers) {
    Result<Candidates> candidates = find_candidates(plugins, choice);
    if (!candidates.ok()) {
      Status status = std::move(candidates).status();
      if (selection.file.empty()) return status;
      return std::move(status).with_context("reading the selection " +
                                            quote(selection.file.native()));
    }
    const std::string& provider = candidates->provider();
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const ChosenProvider& other) {
      return other.candidates.provider() == provider;
    });
    if (known) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted(
              "the provider {} is selected twice, the second time as {}; remove one of the two",
              provider, quote(choice.name)));
    }
    chosen.push_back({std::move(*candidates), choice.options, choice.devices});
  }
  return chosen;
}

}  // namespace ephost::manifest
