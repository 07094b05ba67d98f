#include "host/plugin/negotiate.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plugin/adopt.h"
#include "host/plugin/calls/call.h"

namespace ephost::plugin {
namespace {

// Far beyond what any library offers; a larger count or size is garbage.
constexpr uint64_t kMaxProviders = 1024;
constexpr uint64_t kMaxTextSize = 1024;

Status refuse(const std::string& what) { return Status(StatusCode::kEpFail, what); }

// A refusal that only the vendor can remedy.
Status refuse_bug(const std::string& what) {
  return refuse(what + "; report this to the plugin's vendor");
}

// "1.0", or "1.2 to 1.5".
std::string versions_text(uint32_t major, uint32_t minor_min, uint32_t minor_max) {
  return minor_min == minor_max ? formatted("{}.{}", major, minor_min)
                                : formatted("{0}.{1} to {0}.{2}", major, minor_min, minor_max);
}

std::string host_versions(const HostOffer& host) {
  return versions_text(EPH_ABI_MAJOR, host.minor_min, host.minor_max);
}

// The highest minor version that both know.
std::optional<uint32_t> common_minor(uint32_t minor_min, uint32_t minor_max,
                                     const HostOffer& host) {
  const uint32_t highest = std::min(minor_max, host.minor_max);
  if (highest < std::max(minor_min, host.minor_min)) return std::nullopt;
  return highest;
}

// Which side is behind when they have no version in common.
std::string remedy(bool plugin_is_newer) {
  return plugin_is_newer ? "; update the host or install an older version of the plugin"
                         : "; install a newer version of the plugin";
}

std::string sanitizers_text(uint64_t flags) {
  std::vector<std::string_view> names;
  if ((flags & EPH_BUILD_ADDRESS_SANITIZER) != 0) names.emplace_back("AddressSanitizer");
  if ((flags & EPH_BUILD_THREAD_SANITIZER) != 0) names.emplace_back("ThreadSanitizer");
  if ((flags & EPH_BUILD_MEMORY_SANITIZER) != 0) names.emplace_back("MemorySanitizer");
  return names.empty() ? "no sanitizer" : join(names, " and ");
}

Status check_build_flags(uint64_t plugin, uint64_t host) {
  constexpr uint64_t kSanitizers =
      EPH_BUILD_ADDRESS_SANITIZER | EPH_BUILD_THREAD_SANITIZER | EPH_BUILD_MEMORY_SANITIZER;
  if ((plugin & kSanitizers & ~host) == 0) return {};
  return refuse(
      formatted("the plugin was built with {}, this host with {}; use a build of the plugin "
                "without sanitizers, or a host that has the same ones",
                sanitizers_text(plugin), sanitizers_text(host)));
}

Status check_version_range(const eph_plugin_preamble& preamble) {
  if (preamble.abi_minor_min <= preamble.abi_minor_max) return {};
  return refuse_bug(formatted("the library declares an empty range of ABI minor versions, {} to {}",
                              preamble.abi_minor_min, preamble.abi_minor_max));
}

Result<uint32_t> agree_on_minor(const eph_plugin_preamble& preamble, const HostOffer& host) {
  EPHOST_RETURN_IF_ERROR(check_version_range(preamble));
  const auto minor = common_minor(preamble.abi_minor_min, preamble.abi_minor_max, host);
  if (minor) return *minor;
  return refuse(
      formatted("no common ABI version: the library speaks {}, this host {}{}",
                versions_text(EPH_ABI_MAJOR, preamble.abi_minor_min, preamble.abi_minor_max),
                host_versions(host), remedy(preamble.abi_minor_min > host.minor_max)));
}

// A short text of the library; it lives as long as the library.
Result<std::string_view> checked_text(eph_string text, const std::string& what) {
  if (text.size == 0) return refuse_bug("the library declares an empty " + what);
  if (text.data != nullptr && text.size <= kMaxTextSize) {
    const std::string_view checked(text.data, static_cast<size_t>(text.size));
    if (is_valid_utf8(checked)) return checked;
  }
  return refuse_bug(
      formatted("the library's {} is not valid text (null, over 1024 bytes, or not UTF-8)", what));
}

Status check_same(const std::string& what, std::string_view in_manifest,
                  std::string_view in_library) {
  if (in_manifest == in_library) return {};
  return refuse(
      formatted("manifest and library disagree: {} is {} in the manifest and {} in the library; "
                "install the two files of one release",
                what, quote(in_manifest), quote(in_library)));
}

Status check_promises(const eph_plugin_preamble& preamble, const manifest::Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN([[maybe_unused]] const std::string_view id,
                          checked_text(preamble.id, "plugin id"));
  EPHOST_ASSIGN_OR_RETURN(const std::string_view version,
                          checked_text(preamble.version, "version"));
  EPHOST_RETURN_IF_ERROR(check_same("the version", manifest.version.to_string(), version));
  return check_same(
      "the range of ABI versions",
      versions_text(manifest.abi.major, manifest.abi.minor_min, manifest.abi.minor_max),
      versions_text(EPH_ABI_MAJOR, preamble.abi_minor_min, preamble.abi_minor_max));
}

struct Identity {
  std::string_view type_name;
  std::string_view name;
  std::string_view vendor;
};

CallSite get_api_of(const manifest::Manifest& manifest) { return {manifest.subject(), "get_api"}; }

Result<Identity> read_identity(const eph_provider_api* table, uint64_t index,
                               const manifest::Manifest& manifest) {
  const std::string which = formatted("provider table {}", index);
  CallSite site = get_api_of(manifest);
  site.kind = which;
  EPHOST_ASSIGN_OR_RETURN(const auto known, adopt<ProviderIdentity>(table, site));
  Identity identity;
  EPHOST_ASSIGN_OR_RETURN(identity.type_name,
                          checked_text(known.type_name, "type name of " + which));
  EPHOST_ASSIGN_OR_RETURN(identity.name, checked_text(known.name, "short name of " + which));
  EPHOST_ASSIGN_OR_RETURN(identity.vendor, checked_text(known.vendor, "vendor of " + which));
  return identity;
}

Status check_no_duplicates(const std::vector<Identity>& identities) {
  for (auto later = identities.begin(); later != identities.end(); ++later) {
    const auto same = std::find_if(identities.begin(), later, [&](const Identity& earlier) {
      return earlier.type_name == later->type_name || earlier.name == later->name;
    });
    if (same == later) continue;
    return refuse_bug(formatted(
        "the library offers two providers under one name, {} ({}) and {} ({})",
        quote(same->type_name), quote(same->name), quote(later->type_name), quote(later->name)));
  }
  return {};
}

Result<std::vector<Identity>> read_identities(const eph_plugin_api& api,
                                              const manifest::Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const auto tables,
                          adopt_array(api.providers, api.provider_count, kMaxProviders,
                                      get_api_of(manifest), "providers"));
  std::vector<Identity> identities;
  for (const eph_provider_api* table : tables) {
    EPHOST_ASSIGN_OR_RETURN(const Identity identity,
                            read_identity(table, identities.size(), manifest));
    identities.push_back(identity);
  }
  EPHOST_RETURN_IF_ERROR(check_no_duplicates(identities));
  return identities;
}

// The table of the provider that the manifest names. Only the names of the other tables are
// checked.
Result<const eph_provider_api*> pick_provider(const eph_plugin_api& api,
                                              const manifest::Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const auto identities, read_identities(api, manifest));
  const auto found = std::find_if(identities.begin(), identities.end(), [&](const Identity& one) {
    return one.type_name == manifest.provider;
  });
  if (found == identities.end()) {
    std::vector<std::string> offered;
    for (const Identity& one : identities) offered.push_back(quote(one.type_name));
    return refuse(
        formatted("the library does not offer the manifest's provider {}, only {}; "
                  "install the two files of one release",
                  quote(manifest.provider), join(offered, ", ")));
  }
  EPHOST_RETURN_IF_ERROR(check_same("the short name", manifest.name, found->name));
  EPHOST_RETURN_IF_ERROR(check_same("the vendor", manifest.vendor, found->vendor));
  return api.providers[found - identities.begin()];
}

// The library's table of a layer; null if it has none.
Result<const eph_layer_api*> ask_for_layer(const AdoptedPlugin& adopted,
                                           const manifest::Manifest& manifest) {
  if (adopted.api.get_extension == nullptr) return nullptr;
  const CallSite site{manifest.subject(), "get_extension", EPH_EXT_LAYER};
  EPHOST_ASSIGN_OR_RETURN(const void* const table,
                          call(site, adopted.api.get_extension, adopted.api_self,
                               eph_string EPH_STRING(EPH_EXT_LAYER)));
  return static_cast<const eph_layer_api*>(table);
}

// A library with a layer and without providers has a manifest of the other kind.
Status check_has_providers(const manifest::Manifest& manifest, const AdoptedPlugin& adopted) {
  if (adopted.api.provider_count != 0) return {};
  EPHOST_ASSIGN_OR_RETURN(const eph_layer_api* const layer, ask_for_layer(adopted, manifest));
  if (layer == nullptr) return refuse_bug("the library offers no provider");
  return refuse(
      "the library offers a layer and no provider; write \"kind: layer\" in the manifest, or "
      "install the library of the provider");
}

Status take_layer(const manifest::Manifest& manifest, AdoptedPlugin& adopted) {
  EPHOST_ASSIGN_OR_RETURN(adopted.layer_self, ask_for_layer(adopted, manifest));
  if (adopted.layer_self == nullptr && adopted.api.provider_count != 0) {
    return refuse(
        formatted("the manifest is of a layer, and the library offers providers and no {}; "
                  "write \"kind: provider\", or install the library of the layer",
                  EPH_EXT_LAYER));
  }
  const CallSite site{manifest.subject(), "get_extension", EPH_EXT_LAYER};
  EPHOST_ASSIGN_OR_RETURN(adopted.layer, adopt<eph_layer_api>(adopted.layer_self, site));
  EPHOST_ASSIGN_OR_RETURN(const std::string_view name,
                          checked_text(adopted.layer.name, "name of the layer"));
  EPHOST_ASSIGN_OR_RETURN(const std::string_view vendor,
                          checked_text(adopted.layer.vendor, "vendor of the layer"));
  EPHOST_RETURN_IF_ERROR(check_same("the name of the layer", manifest.name, name));
  return check_same("the vendor", manifest.vendor, vendor);
}

// A context without a `source` could not be assigned to its provider again.
Status check_context(const eph_provider_api& provider, const manifest::Manifest& manifest) {
  if (provider.get_ep_context_nodes == nullptr || !manifest.context_sources.empty()) return {};
  return refuse(
      "the provider writes EP contexts, and the manifest lists no \"context_sources\" "
      "that they could be recognised by; add the key to the manifest");
}

Status fetch_api(const manifest::Manifest& manifest, AdoptedPlugin& adopted) {
  const std::string version =
      "ABI version " + versions_text(EPH_ABI_MAJOR, adopted.abi_minor, adopted.abi_minor);
  CallSite site = get_api_of(manifest);
  site.kind = version;
  const std::string directory = manifest.directory();
  eph_load_info info = {};
  info.struct_size = sizeof(info);
  info.directory = {directory.data(), directory.size()};
  info.minor = adopted.abi_minor;
  EPHOST_ASSIGN_OR_RETURN(adopted.api_self, call(site, adopted.preamble.get_api, &info));
  EPHOST_ASSIGN_OR_RETURN(adopted.api, adopt<eph_plugin_api>(adopted.api_self, site));
  return {};
}

}  // namespace

Status check_manifest(const manifest::Manifest& manifest, const HostOffer& host) {
  const manifest::AbiRange& abi = manifest.abi;
  if (abi.major != EPH_ABI_MAJOR || !common_minor(abi.minor_min, abi.minor_max, host)) {
    const bool is_newer =
        std::pair(abi.major, abi.minor_min) > std::pair(uint32_t{EPH_ABI_MAJOR}, host.minor_max);
    return refuse(
        formatted("no common ABI version: the manifest declares {}, this host speaks {}{}",
                  versions_text(abi.major, abi.minor_min, abi.minor_max), host_versions(host),
                  remedy(is_newer)));
  }
  for (const std::string& extension : manifest.requires_extensions) {
    if (std::find(host.extensions.begin(), host.extensions.end(), extension) !=
        host.extensions.end()) {
      continue;
    }
    return refuse(formatted(
        "the plugin requires the extension {}, which this host does not have; update the host",
        quote(extension)));
  }
  return {};
}

Result<AdoptedPlugin> negotiate(const eph_plugin_preamble* preamble,
                                const manifest::Manifest& manifest, const HostOffer& host) {
  AdoptedPlugin adopted;
  EPHOST_ASSIGN_OR_RETURN(
      adopted.preamble,
      adopt<eph_plugin_preamble>(preamble, CallSite{manifest.subject(), EPH_PLUGIN_SYMBOL}));
  EPHOST_RETURN_IF_ERROR(check_build_flags(adopted.preamble.build_flags, host.build_flags));
  EPHOST_ASSIGN_OR_RETURN(adopted.abi_minor, agree_on_minor(adopted.preamble, host));
  EPHOST_RETURN_IF_ERROR(check_promises(adopted.preamble, manifest));
  EPHOST_RETURN_IF_ERROR(fetch_api(manifest, adopted));
  if (manifest.kind == manifest::Kind::kLayer) {
    EPHOST_RETURN_IF_ERROR(take_layer(manifest, adopted));
    return adopted;
  }
  EPHOST_RETURN_IF_ERROR(check_has_providers(manifest, adopted));
  EPHOST_ASSIGN_OR_RETURN(adopted.provider_self, pick_provider(adopted.api, manifest));
  EPHOST_ASSIGN_OR_RETURN(adopted.provider,
                          adopt_provider(adopted.provider_self, get_api_of(manifest)));
  EPHOST_RETURN_IF_ERROR(check_context(adopted.provider, manifest));
  return adopted;
}

}  // namespace ephost::plugin
