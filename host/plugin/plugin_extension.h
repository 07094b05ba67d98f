// Optional interfaces of a plugin as a whole, rather than of one of its providers.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <optional>

#include "host/plugin/adopt.h"
#include "host/plugin/call.h"
#include "host/plugin/registry.h"

namespace ephost::plugin {

// The table with this id, or nothing if the plugin does not offer it.
template <class Table>
[[nodiscard]] Result<std::optional<Table>> adopt_plugin_extension(const LoadedPlugin& plugin,
                                                                  eph_string id) {
  if (plugin.api.get_extension == nullptr) return std::optional<Table>();
  const CallSite site{plugin.manifest.provider, "get_extension"};
  EPHOST_ASSIGN_OR_RETURN(const void* const table,
                          call(site, plugin.api.get_extension, plugin.api_self, id));
  if (table == nullptr) return std::optional<Table>();
  EPHOST_ASSIGN_OR_RETURN(const Table adopted, adopt<Table>(table, site));
  return std::optional<Table>(adopted);
}

}  // namespace ephost::plugin
