// Rules 31, 42, 59 and 61: optional interfaces, and operators of the vendor's own.
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/extensions/operator_definitions.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"
#include "host/plugin/adopt.h"

namespace ephost::conformance {
namespace {

using plugin::adopt;
using plugin::CallSite;
using plugin::LoadedPlugin;
using std::chrono::seconds;

const void* provider_table(const LoadedPlugin& plugin, eph_provider* provider,
                           std::string_view id) {
  if (plugin.provider.get_provider_extension == nullptr) return nullptr;
  const auto table =
      plugin::call({plugin.manifest.provider, "get_provider_extension"},
                   plugin.provider.get_provider_extension, provider, bridge::to_abi(id));
  return table.ok() ? *table : nullptr;
}

const void* plugin_table(const LoadedPlugin& plugin, std::string_view id) {
  if (plugin.api.get_extension == nullptr) return nullptr;
  const auto table = plugin::call({plugin.manifest.provider, "get_extension"},
                                  plugin.api.get_extension, plugin.api_self, bridge::to_abi(id));
  return table.ok() ? *table : nullptr;
}

const void* table_without_provider(const LoadedPlugin& plugin, std::string_view id) {
  if (plugin.provider.get_extension == nullptr) return nullptr;
  const auto table =
      plugin::call({plugin.manifest.provider, "get_extension"}, plugin.provider.get_extension,
                   plugin.provider_self, bridge::to_abi(id));
  return table.ok() ? *table : nullptr;
}

template <class Table>
Status adoptable(const void* table, const CallSite& site) {
  return adopt<Table>(table, site).status();
}

// The optional interfaces of providers that this host knows.
struct KnownExtension {
  std::string_view id;
  Status (*adopt)(const void* table, const CallSite& site);
};
std::vector<KnownExtension> known_extensions() {
  std::vector<KnownExtension> known;
  plugin::ProviderExtensions::for_each([&]<class Table>() {
    known.push_back({plugin::TableSlots<Table>::kId, &adoptable<Table>});
  });
  return known;
}

void check_unknown(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const LiveProvider provider(plugin, report);
  if (provider.get() == nullptr) return;
  // Near misses of ids that exist, and one that cannot exist.
  std::vector<std::string> ids = {"com.example.no_such_extension/1", "", "/1"};
  std::vector<std::string_view> known_ids = {EPH_EXT_DEVICE, EPH_EXT_OPERATORS};
  for (const KnownExtension& known : known_extensions()) known_ids.push_back(known.id);
  for (const std::string_view known : known_ids) {
    const std::string_view name = known.substr(0, known.rfind('/'));
    ids.push_back(formatted("{}/4000000", name));
    ids.emplace_back(name);
    ids.push_back(formatted("{}0", known));
    ids.push_back(formatted(" {}", known));
  }
  for (const std::string& id : ids) {
    const bool has_table = provider_table(*plugin, provider.get(), id) != nullptr ||
                           table_without_provider(*plugin, id) != nullptr ||
                           plugin_table(*plugin, id) != nullptr;
    if (!has_table) continue;
    report.fail(formatted("get_extension gives a table for {}, which does not exist", quote(id)),
                "compare the whole id, and return null for every other one");
  }
}

void check_tables(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const LiveProvider provider(plugin, report);
  if (provider.get() == nullptr) return;
  double offered = 0;
  for (const KnownExtension& known : known_extensions()) {
    const void* const table = provider_table(*plugin, provider.get(), known.id);
    if (table == nullptr) continue;
    ++offered;
    if (provider_table(*plugin, provider.get(), known.id) != table) {
      report.fail(formatted("get_provider_extension gives two tables for {}", known.id),
                  "return the same table each time");
    }
    const Status status = known.adopt(table, {plugin->manifest.provider, "get_provider_extension"});
    if (!status.ok()) report.fail(text_of(status), "fill the table as its header says");
  }
  report.note("optional interfaces offered", offered);
}

void check_bare_host(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (!plugin->manifest.requires_extensions.empty()) {
    return report.leave_out("the manifest requires extensions of the host");
  }
  const LiveProvider usual(plugin, report);
  if (usual.get() == nullptr) return;
  const BareHost host;
  Result<Config> config = Config::make(plugin, {}, default_devices(*plugin));
  if (!config.ok()) return;
  const Creation creation = create(*plugin, host, config->record());
  if (creation.ok()) return destroy(*plugin, creation.provider);
  report.fail(formatted("create fails on a host without any extension: {}",
                        creation.thrown.empty() ? creation.message : creation.thrown),
              "do without what the host does not offer, or list it under \"requires\" in the "
              "manifest");
}

// As get_operators gives them.
struct OperatorList {
  const eph_operator_def* operators = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;

  friend bool operator==(const OperatorList&, const OperatorList&) = default;
};

OperatorList ask_for_operators(const LoadedPlugin& plugin, const eph_operators_api& api,
                               const void* self) {
  OperatorList list;
  KitError error;
  static_cast<void>(plugin::call({plugin.manifest.provider, "get_operators"}, api.get_operators,
                                 static_cast<const eph_operators_api*>(self), &list.operators,
                                 &list.stride, &list.count, static_cast<eph_error*>(&error)));
  return list;
}

void check_operators(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const void* const table = plugin_table(*plugin, EPH_EXT_OPERATORS);
  if (table == nullptr) return report.leave_out("the plugin defines no operators");
  const auto definitions = bridge::read_operators(plugin);
  if (!definitions.ok()) {
    report.fail(text_of(definitions.status()), "correct the definition");
    return;
  }
  report.note("operators defined", static_cast<double>(definitions->size()));
}

void check_operators_constant(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const void* const table = plugin_table(*plugin, EPH_EXT_OPERATORS);
  if (table == nullptr) return report.leave_out("the plugin defines no operators");
  const auto api = adopt<eph_operators_api>(table, {plugin->manifest.provider, "get_extension"});
  if (!api.ok()) return report.leave_out("the table is broken; check 59.1 says why");
  const OperatorList before = ask_for_operators(*plugin, *api, table);
  Report ignored;
  { const LiveProvider provider(plugin, ignored); }
  if (ask_for_operators(*plugin, *api, table) == before) return;
  report.fail("get_operators gives another list after a provider was created and destroyed",
              "return the same constant definitions each time");
}

// The operators that the provider wants to keep, as text; empty where that fails.
std::string kept_operators(const LoadedPlugin& plugin, eph_provider* provider,
                           const eph_graph_wishes_api& api, Report& report) {
  const eph_kept_operator* operators = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  KitError error;
  const plugin::CallSite site{plugin.manifest.provider, "get_kept_operators"};
  const auto code = plugin::call(site, api.get_kept_operators, provider, &operators, &stride,
                                 &count, static_cast<eph_error*>(&error));
  if (!code.ok() || *code != EPH_OK) {
    report.fail(formatted("get_kept_operators fails: {}",
                          code.ok() ? error.message() : text_of(code.status())),
                "list the operators, or none");
    return {};
  }
  const auto list = plugin::adopt_records(operators, stride, count, uint64_t{1} << 16, site);
  if (!list.ok()) {
    report.fail(
        formatted("get_kept_operators lists what cannot be read: {}", text_of(list.status())),
        "give the records of the array their sizes, and the array its stride");
    return {};
  }
  std::string text;
  for (const auto& [kept, record] : *list) {
    text += formatted("{}.{} {}-{};", bridge::view(kept.domain), bridge::view(kept.op_type),
                      kept.since_version, kept.until_version);
  }
  return text;
}

void check_kept_operators(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const LiveProvider first(plugin, report);
  if (first.get() == nullptr) return;
  const void* const table = provider_table(*plugin, first.get(), EPH_EXT_GRAPH_WISHES);
  if (table == nullptr) return report.leave_out("the provider wishes nothing of graphs");
  const auto api =
      adopt<eph_graph_wishes_api>(table, {plugin->manifest.provider, "get_provider_extension"});
  if (!api.ok()) return report.leave_out("the table is broken; check 31.3 says why");
  const LiveProvider second(plugin, report);
  if (second.get() == nullptr) return;
  if (kept_operators(*plugin, first.get(), *api, report) ==
      kept_operators(*plugin, second.get(), *api, report)) {
    return;
  }
  report.fail("two providers with the same options list different operators to keep",
              "let the list depend on options and devices alone");
}

constexpr std::array kExtensionChecks = {
    Check{31, 2, "unknown-extensions", "An unknown id gets no table", Level::kBasic, seconds(30),
          &check_unknown},
    Check{31, 3, "extension-tables", "Tables of optional interfaces are whole, and stay the same",
          Level::kBasic, seconds(30), &check_tables},
    Check{31, 4, "host-without-extensions",
          "A provider that requires none works on a host without extensions", Level::kBasic,
          seconds(30), &check_bare_host},
    Check{42, 1, "kept-operators", "Providers with the same options keep the same operators",
          Level::kBasic, seconds(30), &check_kept_operators},
    Check{59, 1, "own-operators", "The definitions of own operators make sense", Level::kBasic,
          seconds(30), &check_operators},
    Check{59, 2, "own-operators-constant", "The definitions of own operators do not change",
          Level::kBasic, seconds(30), &check_operators_constant}};

}  // namespace

std::span<const Check> extension_checks() { return kExtensionChecks; }

}  // namespace ephost::conformance
