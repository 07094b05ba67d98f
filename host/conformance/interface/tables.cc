// Rules 12 to 15: tables and records.
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "host/base/format.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"
#include "host/plugin/adopt.h"
#include "host/plugin/record_layout.h"

namespace ephost::conformance {
namespace {

using plugin::Field;
using plugin::Need;
using plugin::RecordLayout;
using std::chrono::seconds;

// What a finding is about: sizes (rule 12), functions (rule 14), arrays (rule 15).
enum class About { kSizes, kSlots, kArrays };

uint64_t size_of(const void* record) {
  uint64_t size = 0;
  std::memcpy(&size, record, sizeof(size));
  return size;
}

bool judge_sizes(const void* record, std::string_view name, std::span<const Field> fields,
                 Report& report) {
  if (record == nullptr) {
    report.fail(formatted("the {} is null", name), "return the address of a constant table");
    return false;
  }
  const uint64_t size = size_of(record);
  if (size > plugin::kMaxRecordSize) {
    report.fail(formatted("the {} has a struct_size of {}", name, size),
                formatted("set struct_size to sizeof({})", name));
    return false;
  }
  for (const Field& field : fields) {
    if (field.need == Need::kOptional || field.end <= size) continue;
    report.fail(
        formatted("the {} has a struct_size of {}, which ends before {}", name, size, field.name),
        formatted("set struct_size to sizeof({}), of a header that has the field", name));
    return false;
  }
  return true;
}

bool judge_slots(const void* record, std::string_view name, std::span<const Field> fields,
                 Report& report) {
  const uint64_t size = size_of(record);
  bool is_whole = true;
  for (const Field& field : fields) {
    if (field.need != Need::kFunction || field.end > size) continue;
    const void* slot = nullptr;
    std::memcpy(&slot, static_cast<const char*>(record) + field.begin, sizeof(slot));
    if (slot != nullptr) continue;
    report.fail(formatted("the {} has a null {}", name, field.name),
                "fill the slot: a host cannot do without it");
    is_whole = false;
  }
  return is_whole;
}

// Judges a record and says whether one may look further.
template <class Record>
bool judge_record(const void* record, About about, Report& report) {
  Report silent;
  using Layout = RecordLayout<Record>;
  Report& sizes = about == About::kSizes ? report : silent;
  Report& slots = about == About::kSlots ? report : silent;
  return judge_sizes(record, Layout::kName, Layout::kFields, sizes) &&
         judge_slots(record, Layout::kName, Layout::kFields, slots);
}

void judge_array(const eph_plugin_api& api, Report& report) {
  constexpr uint64_t kMost = 1024;
  if (api.provider_count == 0) {
    report.fail("the plugin offers no provider", "list at least one in eph_plugin_api.providers");
  } else if (api.provider_count > kMost) {
    report.fail(formatted("the plugin has {} providers", api.provider_count),
                "set provider_count to the number of entries of providers");
  } else if (api.providers == nullptr) {
    report.fail(formatted("the {} providers are at a null pointer", api.provider_count),
                "let eph_plugin_api.providers point to an array of pointers to tables");
  }
}

void judge_pairs(const eph_provider_api& table, Report& report) {
  const auto judge_pair = [&](std::string_view one, bool has_one, std::string_view other,
                              bool has_other) {
    if (has_one == has_other) return;
    report.fail(
        formatted("the provider has {} without {}", has_one ? one : other, has_one ? other : one),
        "fill both slots, or none");
  };
  judge_pair("get_kernels", table.get_kernels != nullptr, "create_kernel",
             table.create_kernel != nullptr);
  judge_pair("get_compatibility", table.get_compatibility != nullptr, "validate",
             table.validate != nullptr);
}

// The provider's table, zero where the plugin's own ends.
eph_provider_api known_part(const eph_provider_api* given) {
  eph_provider_api known = {};
  const size_t size =
      plugin::known_size(RecordLayout<eph_provider_api>::kFields, given->struct_size);
  std::memcpy(&known, given, size);
  return known;
}

void judge_providers(const eph_plugin_api& api, About about, Report& report) {
  for (uint64_t i = 0; i < api.provider_count && i < 1024; ++i) {
    const eph_provider_api* const table = api.providers[i];
    if (judge_record<eph_provider_api>(table, about, report) && about == About::kSlots) {
      judge_pairs(known_part(table), report);
    }
  }
}

void judge_all(const Subject& subject, About about, Report& report) {
  const Result<RawPlugin> raw = open_raw(subject);
  if (!raw.ok()) return report.leave_out("the library cannot be loaded; see rules 1 and 3");
  if (!judge_record<eph_plugin_preamble>(raw->preamble, about, report)) return;
  const uint32_t minor = std::min<uint32_t>(raw->preamble->abi_minor_max, EPH_ABI_MINOR);
  const Result<const eph_plugin_api*> table = get_api(*raw, minor);
  if (raw->preamble->abi_minor_min > minor || raw->preamble->abi_minor_max < minor) {
    return report.leave_out("plugin and host have no minor version in common; see rule 6");
  }
  if (!table.ok() || !judge_record<eph_plugin_api>(*table, about, report)) return;
  if (about == About::kArrays) return judge_array(**table, report);
  Report silent;
  judge_array(**table, silent);
  if (silent.findings().empty()) judge_providers(**table, about, report);
}

void check_sizes(const Subject& subject, Report& report) {
  judge_all(subject, About::kSizes, report);
}
void check_slots(const Subject& subject, Report& report) {
  judge_all(subject, About::kSlots, report);
}
void check_arrays(const Subject& subject, Report& report) {
  judge_all(subject, About::kArrays, report);
}

void check_larger_records(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const LiveProvider plain(plugin, report);
  if (plain.get() == nullptr) return;
  const auto services = kit_services(*plugin);
  Result<Config> config = Config::make(plugin, {}, default_devices(*plugin));
  if (!config.ok()) return;
  for (const uint64_t extra : {uint64_t{8}, uint64_t{64}, uint64_t{4096}}) {
    const Creation creation = create(*plugin, *services, config->record(extra));
    judge_creation(creation, formatted("by a host whose records have {} bytes more", extra),
                   report);
    if (creation.ok()) {
      destroy(*plugin, creation.provider);
    } else if (creation.thrown.empty()) {
      report.fail(
          formatted("create succeeds, but not by a host whose records have {} bytes more: {}",
                    extra, creation.message),
          "read the fields that you know, never compare struct_size for equality, and "
          "advance in arrays by their stride");
    }
  }
}

void check_newer_load_info(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const std::string directory = plugin->manifest.directory();
  std::array<uint64_t, 64> bytes{};
  bytes.fill(0xa5a5a5a5a5a5a5a5);
  const eph_load_info info = {
      sizeof(bytes), {directory.data(), directory.size()}, plugin->abi_minor, 0};
  std::memcpy(bytes.data(), &info, sizeof(info));
  const auto table = plugin::call({plugin->manifest.provider, "get_api"}, plugin->preamble.get_api,
                                  reinterpret_cast<const eph_load_info*>(bytes.data()));
  if (table.ok() && *table == plugin->api_self) return;
  report.fail("get_api gives another table to a host with a longer eph_load_info",
              "read the fields that you know, and never compare struct_size for equality");
}

constexpr uint64_t kLongestRecord = 1024;

// One call of describe with a record of `size` bytes.
void judge_description(const plugin::LoadedPlugin& plugin, eph_provider* provider, uint64_t size,
                       Report& report) {
  constexpr size_t kWords = kLongestRecord / 8 + 32;
  constexpr uint64_t kGuard = 0x5a5a5a5a5a5a5a5a;
  std::array<uint64_t, kWords> bytes{};
  bytes.fill(kGuard);
  std::memset(bytes.data(), 0, size);
  bytes[0] = size;
  KitError error;
  const Result<int32_t> code = plugin::call(
      {plugin.manifest.provider, "describe"}, plugin.provider.describe, provider,
      reinterpret_cast<eph_provider_info*>(bytes.data()), static_cast<eph_error*>(&error));
  if (!code.ok() || *code != EPH_OK) {
    report.fail(formatted("describe fails for a record of {} bytes: {}", size,
                          code.ok() ? error.message() : text_of(code.status())),
                "fill the fields that both sides know");
    return;
  }
  const bool is_beyond = std::any_of(bytes.begin() + static_cast<ptrdiff_t>(size / 8), bytes.end(),
                                     [](uint64_t word) { return word != kGuard; });
  if (is_beyond) {
    report.fail(formatted("describe writes behind a record of {} bytes", size),
                "copy no more than the smaller of the two sizes");
  }
  // No version of the interface has a record as long as the longest one here.
  if (bytes[0] > size || bytes[0] == kLongestRecord) {
    report.fail(
        formatted("describe leaves a struct_size of {} in a record of {} bytes", bytes[0], size),
        "leave the smaller of the two sizes in struct_size");
  }
}

void check_described_records(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (plugin->provider.describe == nullptr) {
    return report.leave_out("the provider does not describe itself");
  }
  const LiveProvider provider(plugin, report);
  if (provider.get() == nullptr) return;
  for (const uint64_t size :
       {uint64_t{8}, sizeof(eph_provider_info), sizeof(eph_provider_info) + 8, kLongestRecord}) {
    judge_description(*plugin, provider.get(), size, report);
  }
}

std::string checksum_of_tables(const RawPlugin& raw, const eph_plugin_api* api) {
  std::string all = checksum_of(raw.preamble, raw.preamble->struct_size);
  all += checksum_of(api, api->struct_size);
  for (uint64_t i = 0; i < api->provider_count; ++i) {
    all += checksum_of(api->providers[i], api->providers[i]->struct_size);
  }
  return all;
}

void check_constant(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  const std::optional<RawPlugin> raw = need_raw(subject, report);
  if (!plugin || !raw) return;
  // The host has adopted the tables, so their sizes make sense.
  const std::string before = checksum_of_tables(*raw, plugin->api_self);
  const auto services = kit_services(*plugin);
  static_cast<void>(bridge::list_targets(*plugin, *services));
  Report ignored;
  for (int i = 0; i < 2; ++i) const LiveProvider provider(plugin, ignored);
  if (checksum_of_tables(*raw, plugin->api_self) == before) return;
  report.fail("a table changes while devices are listed, and providers are created and destroyed",
              "make the tables constants; hosts read them once");
}

constexpr std::array kTableChecks = {
    Check{12, 1, "table-sizes", "The size of each table covers what a host needs", Level::kBasic,
          seconds(30), &check_sizes},
    Check{12, 2, "larger-records", "create reads the records of a host that knows more",
          Level::kBasic, seconds(30), &check_larger_records},
    Check{12, 3, "larger-load-info", "get_api reads the record of a host that knows more",
          Level::kBasic, seconds(30), &check_newer_load_info},
    Check{12, 4, "described-records", "describe writes no more than the host knows", Level::kBasic,
          seconds(30), &check_described_records},
    Check{13, 1, "constant-tables", "The tables do not change", Level::kBasic, seconds(30),
          &check_constant},
    Check{14, 1, "required-slots", "Required slots are there, and pairs are whole", Level::kBasic,
          seconds(30), &check_slots},
    Check{15, 1, "provider-array", "The plugin lists at least one provider", Level::kBasic,
          seconds(30), &check_arrays}};

}  // namespace

std::span<const Check> table_checks() { return kTableChecks; }

}  // namespace ephost::conformance
