// plugin.hpp: the plugin ABI for C++17 authors. Header only, standard library only. It includes all
// headers of ephost/sdk/ and defines the macro that exports a plugin.
//
// Views (GraphView, NodeView, ...) read what the host passes; they own nothing. A provider is a
// class derived from Provider, its kernels and partitions are classes derived from Computation, and
// EPH_DEFINE_PLUGIN turns them into tables of C functions. Those functions are noexcept: an
// exception becomes a code and a message. Throw Failure to choose the code.
//
//   class MyProvider : public eph::Provider {
//    public:
//     static constexpr std::string_view kTypeName = "MyExecutionProvider", kName = "my";
//     static constexpr std::string_view kVendor = "me";
//     static void get_devices(eph::Host host, eph::DeviceList& list);
//     static std::unique_ptr<MyProvider> create(eph::Host host, const eph::Config& config);
//     // Every function of eph::Provider is optional:
//     void get_capability(const eph::GraphView& graph, eph::Claims& claims);
//     eph::ArrayView<eph_kernel_def> kernels();
//     static const eph::Operators& operators();  // that the plugin defines; in one class
//     ...
//   };
//   EPH_DEFINE_PLUGIN("com.me.plugin", "1.0.0", MyProvider)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <ephost/sdk/claims.hpp>
#include <ephost/sdk/computation.hpp>
#include <ephost/sdk/context.hpp>
#include <ephost/sdk/device.hpp>
#include <ephost/sdk/graph_view.hpp>
#include <ephost/sdk/host.hpp>
#include <ephost/sdk/operators.hpp>
#include <ephost/sdk/provider.hpp>
#include <ephost/sdk/run.hpp>
#include <ephost/sdk/shapes.hpp>
#include <utility>

namespace eph::detail {

// The tables of a plugin: constants, so that get_api is pure.
template <class... Providers>
struct PluginTables {
  static constexpr eph_provider_api kProviders[] = {ProviderTable<Providers>::make()...};

  template <std::size_t... I>
  static constexpr std::array<const eph_provider_api*, sizeof...(I)> pointers(
      std::index_sequence<I...>) {
    return {&kProviders[I]...};
  }
  static constexpr auto kPointers = pointers(std::index_sequence_for<Providers...>());

  static constexpr int kDefining = (OperatorsTable<Providers>::has_operators() + ... + 0);
  static_assert(kDefining <= 1, "declare `operators` in one provider class of the plugin");

  template <class P>
  static void find_operators(const eph_operators_api*& found) noexcept {
    if constexpr (OperatorsTable<P>::has_operators()) found = &OperatorsTable<P>::kApi;
  }
  static const void* get_extension(const eph_plugin_api*, eph_string id) noexcept {
    if (view(id) != EPH_EXT_OPERATORS) return nullptr;
    const eph_operators_api* found = nullptr;
    (find_operators<Providers>(found), ...);
    return found;
  }

  static constexpr eph_plugin_api kApi = {sizeof(eph_plugin_api), kPointers.data(),
                                          sizeof...(Providers),
                                          kDefining > 0 ? &get_extension : nullptr};
};

template <class... Providers>
const eph_plugin_api* plugin_api(const eph_load_info* info) noexcept {
  static_assert(sizeof...(Providers) > 0, "name at least one provider class");
  return info->minor <= EPH_ABI_MINOR ? &PluginTables<Providers...>::kApi : nullptr;
}

}  // namespace eph::detail

// Defines the plugin's exported function. To be used once in a library, outside of any namespace.
#define EPH_DEFINE_PLUGIN(plugin_id, plugin_version, ...) \
  EPH_DEFINE_PLUGIN_WITH_FLAGS(0, plugin_id, plugin_version, __VA_ARGS__)

// The same with flags of eph_plugin_preamble, such as EPH_PLUGIN_STAYS_LOADED.
#define EPH_DEFINE_PLUGIN_WITH_FLAGS(flags, plugin_id, plugin_version, ...)              \
  extern "C" EPH_EXPORT const eph_plugin_preamble* eph_plugin_v1(void) {                 \
    static const eph_plugin_preamble preamble = {sizeof(eph_plugin_preamble),            \
                                                 0,                                      \
                                                 EPH_ABI_MINOR,                          \
                                                 EPH_STRING(plugin_id),                  \
                                                 EPH_STRING(plugin_version),             \
                                                 EPH_BUILD_FLAGS,                        \
                                                 flags,                                  \
                                                 &eph::detail::plugin_api<__VA_ARGS__>}; \
    return &preamble;                                                                    \
  }
