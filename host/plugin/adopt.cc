#include "host/plugin/adopt.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "host/base/text.h"

namespace ephost::plugin {
namespace {

constexpr std::string_view kReport = "; report this to the plugin's vendor";

Status broken(const std::string& what) {
  return Status(StatusCode::kEpFail, what + std::string(kReport));
}

// The number of bytes that can be taken over.
uint64_t known_size(uint64_t struct_size, size_t out_size) {
  return std::min<uint64_t>(struct_size, out_size) / sizeof(uint64_t) * sizeof(uint64_t);
}

}  // namespace

Status adopt_bytes(const void* table, std::string_view table_name,
                   std::span<const RequiredSlot> required, void* out, size_t out_size) {
  const auto name = [&] { return std::string(table_name); };
  if (table == nullptr) return broken("the plugin's " + name() + " is null");
  uint64_t struct_size = 0;
  std::memcpy(&struct_size, table, sizeof(struct_size));
  const uint64_t known = known_size(struct_size, out_size);
  for (const RequiredSlot& slot : required) {
    if (slot.offset + slot.size > known) {
      return broken("the plugin's " + name() + " is too short: struct_size is " +
                    std::to_string(struct_size) + ", and the required " + quote(slot.name) +
                    " ends at " + std::to_string(slot.offset + slot.size));
    }
  }
  std::memcpy(out, table, static_cast<size_t>(known));
  std::memcpy(out, &known, sizeof(known));
  for (const RequiredSlot& slot : required) {
    const void* pointer = nullptr;
    if (slot.may_be_null) continue;
    std::memcpy(&pointer, static_cast<const char*>(out) + slot.offset, sizeof(pointer));
    if (pointer == nullptr) {
      return broken("the required " + quote(slot.name) + " of the plugin's " + name() + " is null");
    }
  }
  return {};
}

Status check_pair(bool has_first, std::string_view first, bool has_second,
                  std::string_view second) {
  if (has_first == has_second) return {};
  return broken("the plugin has " + quote(has_first ? first : second) + " without " +
                quote(has_first ? second : first) + ", and the two go together");
}

Result<eph_plugin_preamble> adopt_preamble(const eph_plugin_preamble* preamble) {
  static constexpr std::array<RequiredSlot, 1> kRequired{
      {{"get_api", offsetof(eph_plugin_preamble, get_api)}}};
  return adopt(preamble, "preamble", kRequired);
}

Result<eph_plugin_api> adopt_plugin(const eph_plugin_api* table) {
  static constexpr std::array<RequiredSlot, 2> kRequired{
      {{"providers", offsetof(eph_plugin_api, providers), sizeof(void*), true},
       {"provider_count", offsetof(eph_plugin_api, provider_count), sizeof(uint64_t), true}}};
  return adopt(table, "table eph_plugin_api", kRequired);
}

Result<eph_provider_api> adopt_provider(const eph_provider_api* table) {
  static constexpr std::array<RequiredSlot, 3> kRequired{
      {{"get_devices", offsetof(eph_provider_api, get_devices)},
       {"create", offsetof(eph_provider_api, create)},
       {"destroy", offsetof(eph_provider_api, destroy)}}};
  EPHOST_ASSIGN_OR_RETURN(eph_provider_api provider,
                          adopt(table, "table eph_provider_api", kRequired));
  EPHOST_RETURN_IF_ERROR(check_pair(provider.get_kernels != nullptr, "get_kernels",
                                    provider.create_kernel != nullptr, "create_kernel"));
  EPHOST_RETURN_IF_ERROR(check_pair(provider.get_compatibility != nullptr, "get_compatibility",
                                    provider.validate_compatibility != nullptr,
                                    "validate_compatibility"));
  return provider;
}

Result<eph_computation_api> adopt_computation(const eph_computation_api* table) {
  static constexpr std::array<RequiredSlot, 2> kRequired{
      {{"destroy", offsetof(eph_computation_api, destroy)},
       {"compute", offsetof(eph_computation_api, compute)}}};
  EPHOST_ASSIGN_OR_RETURN(eph_computation_api computation,
                          adopt(table, "table eph_computation_api", kRequired));
  EPHOST_RETURN_IF_ERROR(check_pair(computation.create_state != nullptr, "create_state",
                                    computation.release_state != nullptr, "release_state"));
  return computation;
}

}  // namespace ephost::plugin
