// Takes over a table of functions that a plugin hands out: checks that what the ABI requires is
// there and copies what both sides know, so that nobody reads the plugin's table again. Called by
// the negotiation and, for computations, by host/bridge. It calls no function of a plugin.
//
// Failures are EP_FAIL; the caller adds which plugin is at fault.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "ephost/status.h"

namespace ephost::plugin {

// A field that a table must cover. A pointer among them must not be null.
struct RequiredSlot {
  std::string_view name;
  size_t offset = 0;
  size_t size = sizeof(void*);
  bool may_be_null = false;
};

// Copies into `out`, `out_size` zeroed bytes, what `table` covers of them. Whole 8-byte words only:
// a table that ends inside of a field does not have that field. struct_size becomes what was
// copied.
Status adopt_bytes(const void* table, std::string_view table_name,
                   std::span<const RequiredSlot> required, void* out, size_t out_size);

// `Table` starts with its struct_size; its name goes into the messages.
template <class Table>
[[nodiscard]] Result<Table> adopt(const Table* table, std::string_view table_name,
                                  std::span<const RequiredSlot> required) {
  static_assert(std::is_trivially_copyable_v<Table> && sizeof(Table) % sizeof(uint64_t) == 0);
  static_assert(offsetof(Table, struct_size) == 0);
  Table adopted = {};
  EPHOST_RETURN_IF_ERROR(adopt_bytes(table, table_name, required, &adopted, sizeof(adopted)));
  return adopted;
}

// Two slots of one table of which a plugin has both or neither.
Status check_pair(bool has_first, std::string_view first, bool has_second, std::string_view second);

[[nodiscard]] Result<eph_plugin_preamble> adopt_preamble(const eph_plugin_preamble* preamble);
[[nodiscard]] Result<eph_plugin_api> adopt_plugin(const eph_plugin_api* table);
[[nodiscard]] Result<eph_provider_api> adopt_provider(const eph_provider_api* table);
[[nodiscard]] Result<eph_computation_api> adopt_computation(const eph_computation_api* table);

}  // namespace ephost::plugin
