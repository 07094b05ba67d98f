// Rules 8 to 10, and others of which the host refuses a breach while it loads a plugin.
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"
#include "host/manifest/platform.h"
#include "host/plugin/adopt.h"

namespace ephost::conformance {
namespace {

using plugin::adopt;
using plugin::CallSite;
using std::chrono::seconds;

constexpr uint64_t kMostProviders = 1024;
constexpr uint64_t kLongestText = 1024;

// What a library declares about its providers, as far as its tables are whole.
struct Statements {
  RawPlugin raw;
  eph_plugin_preamble preamble = {};
  std::vector<plugin::ProviderIdentity> providers;
  std::vector<const eph_provider_api*> tables;
};

std::optional<Statements> read_statements(const Subject& subject, Report& report) {
  std::optional<RawPlugin> raw = need_raw(subject, report);
  if (!raw) return std::nullopt;
  Statements read;
  const CallSite site = {raw->manifest.provider, "get_api"};
  const auto preamble = adopt<eph_plugin_preamble>(raw->preamble, site);
  if (preamble.ok()) {
    read.preamble = *preamble;
    const auto table = get_api(*raw, std::min<uint32_t>(preamble->abi_minor_max, EPH_ABI_MINOR));
    const auto api =
        table.ok() ? adopt<eph_plugin_api>(*table, site) : Result<eph_plugin_api>(table.status());
    if (api.ok() && api->providers != nullptr && api->provider_count <= kMostProviders) {
      for (uint64_t i = 0; i < api->provider_count; ++i) {
        const auto identity = adopt<plugin::ProviderIdentity>(api->providers[i], site);
        if (!identity.ok()) continue;
        read.providers.push_back(*identity);
        read.tables.push_back(api->providers[i]);
      }
      read.raw = std::move(*raw);
      return read;
    }
  }
  report.leave_out("the tables are not whole; the checks of rules 12 to 15 say why");
  return std::nullopt;
}

// The text, or why it is none.
Result<std::string_view> valid_text(eph_string text) {
  if (text.size == 0) return Status(StatusCode::kEpFail, "is empty");
  if (text.data == nullptr) return Status(StatusCode::kEpFail, "is at a null pointer");
  if (text.size > kLongestText) return Status(StatusCode::kEpFail, "has more than 1024 bytes");
  const std::string_view view = bridge::view(text);
  if (!is_valid_utf8(view)) return Status(StatusCode::kEpFail, "is not UTF-8");
  return view;
}

std::string shown(eph_string text) {
  const Result<std::string_view> view = valid_text(text);
  return view.ok() ? quote(*view) : "a text that " + view.status().message();
}

void compare_text(std::string_view what, const std::string& in_manifest, eph_string in_library,
                  Report& report) {
  if (bridge::view(in_library) == in_manifest) return;
  report.fail(formatted("{} is {} in the manifest and {} in the library", what, quote(in_manifest),
                        shown(in_library)),
              "make both the same, and build them from one source if you can");
}

void check_manifest(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) {
    report.fail(text_of(found.status()), "correct the manifest; manifests/SCHEMA.md describes it");
    return;
  }
  const manifest::AbiRange& abi = found->manifest.abi;
  if (abi.major != EPH_ABI_MAJOR || abi.minor_min > EPH_ABI_MINOR) {
    report.fail(
        formatted("the manifest declares ABI {}.{} to {}.{}, and this host has {}.{}", abi.major,
                  abi.minor_min, abi.major, abi.minor_max, EPH_ABI_MAJOR, EPH_ABI_MINOR),
        "declare the versions that the library has");
  }
}

void check_promises(const Subject& subject, Report& report) {
  const std::optional<Statements> read = read_statements(subject, report);
  if (!read) return;
  const manifest::Manifest& manifest = read->raw.manifest;
  compare_text("the version", manifest.version.to_string(), read->preamble.version, report);
  if (manifest.abi.minor_min != read->preamble.abi_minor_min ||
      manifest.abi.minor_max != read->preamble.abi_minor_max) {
    report.fail(formatted("the minor versions of the ABI are {} to {} in the manifest and {} to {} "
                          "in the library",
                          manifest.abi.minor_min, manifest.abi.minor_max,
                          read->preamble.abi_minor_min, read->preamble.abi_minor_max),
                "declare in the manifest what the library declares");
  }
  const auto found = std::ranges::find_if(read->providers, [&](const auto& provider) {
    return bridge::view(provider.type_name) == manifest.provider;
  });
  if (found == read->providers.end()) {
    std::vector<std::string> names;
    for (const auto& provider : read->providers) names.push_back(shown(provider.type_name));
    report.fail(formatted("the library does not offer the manifest's provider {}, but {}",
                          quote(manifest.provider), names.empty() ? "none" : join(names, ", ")),
                "give the provider one type name in both");
    return;
  }
  compare_text("the short name", manifest.name, found->name, report);
  compare_text("the vendor", manifest.vendor, found->vendor, report);
}

void check_checksum(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the manifest is not valid; check 8.1 says why");
  const auto* const entry = found->manifest.library_for(manifest::host_platform());
  if (entry == nullptr || !entry->sha256) {
    return report.leave_out(
        "the manifest has no SHA-256; the installed one has it if the plugin is installed by "
        "ephost_add_plugin");
  }
  const Result<MappedFile> file = MappedFile::open(found->library);
  const Status status =
      file.ok() ? manifest::verify_library_checksum(*found, file->bytes()) : file.status();
  if (!status.ok()) {
    report.fail(text_of(status),
                "write the manifest's sha256 after the last change of the library");
  }
}

void check_names(const Subject& subject, Report& report) {
  const std::optional<Statements> read = read_statements(subject, report);
  if (!read) return;
  const auto judge = [&](const std::string& what, eph_string text) {
    const Result<std::string_view> view = valid_text(text);
    if (!view.ok()) {
      report.fail(formatted("{} {}", what, view.status().message()),
                  "give a text in UTF-8 of 1 to 1024 bytes");
    }
  };
  judge("the plugin's id", read->preamble.id);
  judge("the version", read->preamble.version);
  const auto& providers = read->providers;
  for (size_t i = 0; i < providers.size(); ++i) {
    judge(formatted("the type name of provider {}", i), providers[i].type_name);
    judge(formatted("the short name of provider {}", i), providers[i].name);
    judge(formatted("the vendor of provider {}", i), providers[i].vendor);
    for (size_t k = 0; k < i; ++k) {
      const bool is_same =
          bridge::view(providers[i].type_name) == bridge::view(providers[k].type_name) ||
          bridge::view(providers[i].name) == bridge::view(providers[k].name);
      if (!is_same) continue;
      report.fail(formatted("providers {} and {} share a name: {} ({}) and {} ({})", k, i,
                            shown(providers[k].type_name), shown(providers[k].name),
                            shown(providers[i].type_name), shown(providers[i].name)),
                  "give each provider of the library names of its own");
    }
  }
}

void check_neighbours(const Subject& subject, Report& report) {
  const std::optional<Statements> read = read_statements(subject, report);
  if (!read) return;
  for (size_t i = 0; i < read->tables.size(); ++i) {
    const CallSite site = {read->raw.manifest.provider, "get_api"};
    const Status status = plugin::adopt_provider(read->tables[i], site).status();
    if (status.ok()) continue;
    report.fail(formatted("the table of provider {}, {}, is broken: {}", i,
                          shown(read->providers[i].type_name), text_of(status)),
                "fill every table of the library; a host uses the others without it");
  }
}

void check_host_loads(const Subject& subject, Report& report) {
  const Result<std::shared_ptr<const plugin::LoadedPlugin>> plugin = load_plugin(subject);
  if (!plugin.ok()) {
    report.fail(text_of(plugin.status()),
                "correct what the failed checks of the other rules name as well");
  }
}

void check_context_sources(const Subject& subject, Report& report) {
  const std::optional<Statements> read = read_statements(subject, report);
  if (!read) return;
  for (size_t i = 0; i < read->tables.size(); ++i) {
    const CallSite site = {read->raw.manifest.provider, "get_api"};
    const Result<eph_provider_api> table = adopt<eph_provider_api>(read->tables[i], site);
    const bool is_ours = bridge::view(read->providers[i].type_name) == read->raw.manifest.provider;
    if (!is_ours || !table.ok() || table->get_ep_context_nodes == nullptr) continue;
    if (!read->raw.manifest.context_sources.empty()) continue;
    report.fail("the provider writes contexts, and the manifest lists no context_sources",
                "list the values of `source` in the manifest by which its contexts are recognised");
  }
}

void check_requirements(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the manifest is not valid; check 8.1 says why");
  const std::vector<std::string> offered = bridge::offered_extensions();
  for (const std::string& wanted : found->manifest.requires_extensions) {
    if (std::ranges::count(offered, wanted) > 0) continue;
    report.fail(formatted("the manifest requires {}, which this host does not offer; it has {}",
                          quote(wanted), join(offered, ", ")),
                "require only what the provider cannot work without, by its exact id");
  }
}

constexpr std::array kManifestChecks = {
    Check{8, 1, "manifest", "The manifest is valid, and its library is there", Level::kBasic,
          seconds(30), &check_manifest},
    Check{8, 2, "manifest-and-library", "Manifest and library agree", Level::kBasic, seconds(30),
          &check_promises},
    Check{8, 3, "manifest-checksum", "The library has the SHA-256 of the manifest", Level::kBasic,
          seconds(30), &check_checksum},
    Check{9, 1, "names", "The names of plugin and providers are valid texts, and unique",
          Level::kBasic, seconds(30), &check_names},
    Check{10, 1, "host-loads-plugin", "The host loads the plugin", Level::kBasic, seconds(30),
          &check_host_loads},
    Check{10, 2, "neighbours", "The tables of all providers of the library are whole",
          Level::kBasic, seconds(30), &check_neighbours},
    Check{29, 1, "context-sources", "A provider that writes contexts lists their sources",
          Level::kBasic, seconds(30), &check_context_sources},
    Check{31, 1, "required-extensions", "The host offers every extension that the plugin requires",
          Level::kBasic, seconds(30), &check_requirements}};

}  // namespace

std::span<const Check> manifest_checks() { return kManifestChecks; }

}  // namespace ephost::conformance
