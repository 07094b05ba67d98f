// The plugin of the crossings: its slots hand over to the host what a test has given them.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "host/bridge/provider.h"
#include "host/manifest/manifest.h"
#include "host/plugin/negotiate.h"
#include "host/plugin/slots.h"

namespace ephost::bridge::testing {

// What the plugin's slots hand over; where that is null, they do their work without it.
struct Handed {
  const void* computation_api = nullptr;
  const void* computation_info = nullptr;
  const void* device = nullptr;
  const void* devices = nullptr;  // the table
  const void* memory = nullptr;
  const void* claim = nullptr;
  const void* context_node = nullptr;
  const void* plugin_api = nullptr;
  const void* event = nullptr;
  const void* provider_info = nullptr;
  const void* operators = nullptr;
  const void* usage = nullptr;
  const void* operator_def = nullptr;
  const void* layer = nullptr;
  // The only optional interface of the provider.
  struct Extension {
    std::string_view id;
    const void* table = nullptr;
  } extension;
  std::span<const eph_kernel_def> kernels;
  const void* kept_operator = nullptr;
};
extern Handed handed;

// Tables with the plugin's slots.
extern const eph_computation_api kComputation;
extern const eph_device_api kDevices;
extern const eph_graph_wishes_api kGraphWishes;
extern const eph_profiling_api kProfiling;
extern const eph_operators_api kOperators;
[[nodiscard]] eph_provider_api provider_table();
// Tables of an optional interface: the host asks no more than that their functions are there.
template <class Table>
Table sound_table() {
  Table table = {};
  table.struct_size = sizeof(table);
  plugin::for_each_slot<Table>([&]<auto kMember>() {
    table.*kMember = []<class R, class... A>(R (*)(A...) noexcept) -> R (*)(A...) noexcept {
      return [](A...) noexcept { return R(); };
    }(table.*kMember);
  });
  return table;
}

// What a library would export.
const eph_plugin_api* get_api(const eph_load_info*) noexcept;
const void* get_plugin_extension(const eph_plugin_api*, eph_string id) noexcept;

[[nodiscard]] manifest::Manifest manifest_of_the_plugin();
[[nodiscard]] std::shared_ptr<const plugin::LoadedPlugin> loaded_plugin();
[[nodiscard]] Result<std::shared_ptr<Provider>> create_provider();

}  // namespace ephost::bridge::testing
