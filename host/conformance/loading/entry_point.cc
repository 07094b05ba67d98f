// Rules 2 and 6: the entry point, get_api, and the minor versions that they agree on.
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/kit/part.h"
#include "host/conformance/support/probe.h"
#include "host/conformance/support/process_state.h"
#include "host/plugin/adopt.h"

namespace ephost::conformance {
namespace {

using plugin::adopt;
using plugin::CallSite;

// The size that a table declares, within reason.
template <class Table>
uint64_t stated_size(const Table* table) {
  return std::min<uint64_t>(table->struct_size, plugin::kMaxRecordSize);
}

std::optional<eph_plugin_preamble> preamble_of(const RawPlugin& raw) {
  const CallSite site = {raw.manifest.provider, EPH_PLUGIN_SYMBOL};
  Result<eph_plugin_preamble> adopted = adopt<eph_plugin_preamble>(raw.preamble, site);
  if (!adopted.ok()) return std::nullopt;
  return *adopted;
}

// The preamble, for checks that need a whole one; check 12.1 says what is wrong with another.
std::optional<RawPlugin> need_preamble(const Subject& subject, Report& report) {
  std::optional<RawPlugin> raw = need_raw(subject, report);
  if (raw && preamble_of(*raw)) return raw;
  if (raw) report.leave_out("the preamble is not whole; checks 12.1 and 14.1 say why");
  return std::nullopt;
}

// What all calls of the entry point and of get_api give, as text without addresses.
std::string description(const RawPlugin& raw) {
  const eph_plugin_preamble preamble = *preamble_of(raw);
  std::string text =
      formatted("minors {} to {}, id {}, version {}, build flags {:#x}, flags {:#x}",
                preamble.abi_minor_min, preamble.abi_minor_max, quote(bridge::view(preamble.id)),
                quote(bridge::view(preamble.version)), preamble.build_flags, preamble.flags);
  const CallSite site = {raw.manifest.provider, "get_api"};
  const Result<const eph_plugin_api*> table = get_api(raw, preamble.abi_minor_max);
  if (!table.ok()) return text;
  const Result<eph_plugin_api> api = adopt<eph_plugin_api>(*table, site);
  if (!api.ok() || api->providers == nullptr || api->provider_count > 1024) return text;
  for (uint64_t i = 0; i < api->provider_count; ++i) {
    const auto provider = adopt<plugin::ProviderIdentity>(api->providers[i], site);
    if (!provider.ok()) continue;
    text += formatted(", provider {} {} of {}, table of {} bytes",
                      quote(bridge::view(provider->type_name)), quote(bridge::view(provider->name)),
                      quote(bridge::view(provider->vendor)), api->providers[i]->struct_size);
  }
  return text;
}

std::string describe_here(const Subject& subject, std::span<const std::string>) {
  const Result<RawPlugin> raw = open_raw(subject);
  if (!raw.ok()) return text_of(raw.status());
  return preamble_of(*raw) ? description(*raw) : "a preamble that is not whole";
}

void check_repeats(const Subject& subject, Report& report) {
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  using EntryPoint = std::remove_pointer_t<eph_plugin_v1_function>;
  auto* const entry_point = raw->library->find_function<EntryPoint>(EPH_PLUGIN_SYMBOL);
  const std::string before = checksum_of(raw->preamble, stated_size(raw->preamble));
  for (int i = 0; i < 3; ++i) {
    const auto again = plugin::call({raw->manifest.provider, EPH_PLUGIN_SYMBOL}, entry_point);
    if (!again.ok() || *again != raw->preamble) {
      report.fail(EPH_PLUGIN_SYMBOL " returns another pointer when it is called again",
                  "return the address of one constant");
      return;
    }
  }
  if (checksum_of(raw->preamble, stated_size(raw->preamble)) != before) {
    report.fail("the preamble changes while " EPH_PLUGIN_SYMBOL " is called again",
                "make it a constant");
  }
}

void check_tables_repeat(const Subject& subject, Report& report) {
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  const eph_plugin_preamble preamble = *preamble_of(*raw);
  const uint32_t last = std::min(preamble.abi_minor_max, preamble.abi_minor_min + 1000);
  for (uint32_t minor = preamble.abi_minor_min; minor <= last; ++minor) {
    const Result<const eph_plugin_api*> first = get_api(*raw, minor);
    const Result<const eph_plugin_api*> second = get_api(*raw, minor);
    if (!first.ok() || !second.ok()) {
      report.fail(text_of(first.ok() ? second.status() : first.status()),
                  "get_api must return, whatever it is asked for");
    } else if (*first != *second) {
      report.fail(formatted("get_api returns two tables for minor version {}", minor),
                  "return the same constant for the same eph_load_info");
    }
  }
}

void check_purity(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the manifest names no library that can be loaded here");
  const ProcessState before = ProcessState::everything();
  const Result<std::shared_ptr<const plugin::Library>> library = load_library(*found);
  if (!library.ok()) return report.leave_out("the library cannot be loaded; check 3.1 says why");
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(get_api(*raw, preamble_of(*raw)->abi_minor_max));
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  judge_state(before, ProcessState::everything(), "loading, " EPH_PLUGIN_SYMBOL " and get_api",
              report);
  report.note("entry point and get_api (ms)", took.count());
  constexpr double kMost = 100;
  if (took.count() > kMost) {
    report.fail(formatted("the entry point and get_api take {:.0f} ms", took.count()),
                "leave everything but constant tables to get_devices and create");
  }
}

void check_other_process(const Subject& subject, Report& report) {
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  const std::string here = description(*raw);
  const Result<std::string> there =
      run_part(subject, "describe-tables", {}, std::chrono::seconds(20));
  if (!there.ok()) {
    report.fail(text_of(there.status()), "the tables must be the same in each process");
  } else if (*there != here) {
    report.fail(formatted("another process sees other tables: {}, and here {}", *there, here),
                "make the whole content of the tables constant");
  }
}

void check_range(const Subject& subject, Report& report) {
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  const eph_plugin_preamble preamble = *preamble_of(*raw);
  if (preamble.abi_minor_min > preamble.abi_minor_max) {
    report.fail(formatted("the range of minor versions is empty: {} to {}", preamble.abi_minor_min,
                          preamble.abi_minor_max),
                "give the lowest minor version first");
  } else if (preamble.abi_minor_min > EPH_ABI_MINOR) {
    report.fail(formatted("the plugin needs minor version {}, and this host has {}",
                          preamble.abi_minor_min, EPH_ABI_MINOR),
                "keep working with older hosts, or use the kit of a newer one");
  }
}

void check_each_minor(const Subject& subject, Report& report) {
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  const eph_plugin_preamble preamble = *preamble_of(*raw);
  const uint32_t last = std::min(preamble.abi_minor_max, preamble.abi_minor_min + 1000);
  for (uint32_t minor = preamble.abi_minor_min; minor <= last; ++minor) {
    const Result<const eph_plugin_api*> table = get_api(*raw, minor);
    if (table.ok() && *table != nullptr) continue;
    report.fail(
        formatted("get_api gives no table for minor version {}, which the preamble has", minor),
        "return a table for each minor version of the range");
  }
}

void check_other_minors(const Subject& subject, Report& report) {
  const std::optional<RawPlugin> raw = need_preamble(subject, report);
  if (!raw) return;
  const eph_plugin_preamble preamble = *preamble_of(*raw);
  std::vector<uint32_t> others = {preamble.abi_minor_max + 1, preamble.abi_minor_max + 7};
  if (preamble.abi_minor_min > 0) others.push_back(preamble.abi_minor_min - 1);
  for (const uint32_t minor : others) {
    const Result<const eph_plugin_api*> table = get_api(*raw, minor);
    if (table.ok() && *table == nullptr) continue;
    report.fail(formatted("get_api gives a table for minor version {}, which is not in the range "
                          "of the preamble",
                          minor),
                "return null for versions outside of the range");
  }
}

void check_other_hosts(const Subject& subject, Report& report) {
  if (!need_plugin(subject, report)) return;
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  const Result<plugin::Quarantine> quarantine = user_quarantine();
  const Result<trust::Verifier> verifier = user_verifier();
  if (!found.ok() || !quarantine.ok() || !verifier.ok()) return;
  // A host that has learned more, and one that still knows everything.
  for (const uint32_t newest : {uint32_t{EPH_ABI_MINOR} + 1, uint32_t{EPH_ABI_MINOR} + 5}) {
    plugin::Registry registry(
        plugin::HostOffer{.minor_max = newest, .extensions = bridge::offered_extensions()},
        *quarantine);
    registry.set_verifier(*verifier);
    const auto loaded = registry.load(*found);
    if (loaded.ok()) continue;
    report.fail(formatted("a host that knows minor versions up to {} refuses the plugin: {}",
                          newest, text_of(loaded.status())),
                "offer the minor versions that you know; the host uses the highest common one");
  }
}

constexpr std::array kEntryPointChecks = {
    Check{2, 1, "entry-point-repeats", "The entry point returns the same constant each time",
          Level::kBasic, std::chrono::seconds(30), &check_repeats},
    Check{2, 2, "entry-point-pure",
          "Loading and the entry point change nothing in the process, and take no time",
          Level::kBasic, std::chrono::seconds(30), &check_purity},
    Check{2, 3, "tables-repeat", "get_api returns the same table for the same question",
          Level::kBasic, std::chrono::seconds(30), &check_tables_repeat},
    Check{2, 4, "tables-in-another-process", "Another process sees the same preamble and tables",
          Level::kBasic, std::chrono::seconds(30), &check_other_process},
    Check{6, 1, "minor-range", "The range of minor versions is not empty, and fits this host",
          Level::kBasic, std::chrono::seconds(30), &check_range},
    Check{6, 2, "table-of-each-minor", "get_api has a table for each minor version of the range",
          Level::kBasic, std::chrono::seconds(30), &check_each_minor},
    Check{6, 3, "no-table-of-other-minors", "get_api has no table for other minor versions",
          Level::kBasic, std::chrono::seconds(30), &check_other_minors},
    Check{6, 4, "newer-hosts", "Hosts that know later minor versions load the plugin",
          Level::kBasic, std::chrono::seconds(30), &check_other_hosts}};

constexpr std::array kEntryPointParts = {Part{"describe-tables", &describe_here}};

}  // namespace

std::span<const Check> entry_point_checks() { return kEntryPointChecks; }
std::span<const Part> entry_point_parts() { return kEntryPointParts; }

}  // namespace ephost::conformance
