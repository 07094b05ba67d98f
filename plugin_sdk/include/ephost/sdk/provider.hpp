// provider.hpp: the base class of providers, and the table of C functions made from a derived
// class.
#pragma once

#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>

#include <algorithm>
#include <cstdint>
#include <ephost/sdk/claims.hpp>
#include <ephost/sdk/computation.hpp>
#include <ephost/sdk/context.hpp>
#include <ephost/sdk/device.hpp>
#include <ephost/sdk/graph_view.hpp>
#include <ephost/sdk/host.hpp>
#include <ephost/sdk/run.hpp>
#include <ephost/sdk/shapes.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace eph {

// An operator of Provider::kept_operators; the text has to live as long as the provider.
[[nodiscard]] constexpr eph_kept_operator make_kept_operator(std::string_view op_type,
                                                             std::string_view domain,
                                                             int32_t since_version,
                                                             int32_t until_version) {
  return {sizeof(eph_kept_operator), to_abi(op_type), to_abi(domain), since_version, until_version};
}

// Base of every provider. A derived class declares the functions that it supports; one that it
// leaves out becomes a null slot of the table, with the meaning that plugin_abi.h gives. One class
// of a plugin may also declare `static const Operators& operators()` (operators.hpp).
//
// These functions are static, as they need no provider; the first two are required:
//
//   static void get_devices(Host host, DeviceList& list);
//   static std::unique_ptr<Self> create(Host host, const Config& config);  // or const Options&
//   // Judges the text of a payload for a device: EPH_COMPATIBILITY_*. Goes with `compatibility`.
//   static int32_t validate(Host host, const eph_device& device, std::string_view text);
//   static void list_targets(Host host, DeviceList& list);
//   // Offers ephost.device/1: see device.hpp.
//   static std::unique_ptr<Device> open_device(Host host, const eph_device& device);
class Provider {
 public:
  void get_capability(const GraphView& graph, Claims& claims);
  ArrayView<eph_kernel_def> kernels();
  std::unique_ptr<Computation> create_kernel(const GraphView& graph, uint32_t node);
  // One computation for each partition, in order.
  std::vector<std::unique_ptr<Computation>> compile(const Partitions& partitions);
  void get_ep_context_nodes(ArrayView<Computation*> computations, ContextWriter& writer);
  std::string_view compatibility();
  // See eph_provider_info. By default any number of computations run at the same time.
  void describe(eph_provider_info& info) { info.max_concurrent = UINT32_MAX; }
  // Offers ephost.shared_contexts/1: one provider for all sessions of a group. `payload` may
  // contain anything; throws Failure(EPH_INVALID_GRAPH) if it cannot be read.
  std::vector<std::string> list_partitions(const eph_bytes& payload);
  // Offers ephost.graph_wishes/1: operators that are to reach the provider as they are in the
  // model. They live as long as the provider.
  ArrayView<eph_kept_operator> kept_operators();
  // Offers ephost.shapes/1; set_shape_profiles may be left out. get_shape_wishes follows each
  // get_capability of a graph with open extents; set_shape_profiles comes before the first, and
  // claims then hold for these profiles only.
  void get_shape_wishes(const GraphView& graph, ShapeWishes& wishes);
  void set_shape_profiles(ArrayView<eph_shape_profile> profiles);
  // Offers ephost.run/1; any of the three will do. Every run of a session lies between the first
  // two, which several threads may call at once, and end_run comes however the run went: `code` is
  // EPH_OK or that of its failure. set_options gets the options with the scope `dynamic` that
  // change, for runs that begin afterwards; where it throws, all options stay as they were.
  void begin_run(const RunConfig& config);
  void end_run(uint64_t run_id, int32_t code);
  void set_options(const Options& options);
  // Offers ephost.profiling/1; declare both. stop_profiling hands over the events since the last
  // start_profiling.
  void start_profiling();
  void stop_profiling(EventList& events);
  // Any other extension.
  const void* extension(std::string_view id);
};

namespace detail {

template <class P, class = void>
struct DeclaresValidate : std::false_type {};
template <class P>
struct DeclaresValidate<P, std::void_t<decltype(&P::validate)>> : std::true_type {};
template <class P, class = void>
struct DeclaresListTargets : std::false_type {};
template <class P>
struct DeclaresListTargets<P, std::void_t<decltype(&P::list_targets)>> : std::true_type {};

// A table knows its class, so that none of its functions needs `self`.
template <class P>
struct ProviderTable {
  static P* self(eph_provider* handle) { return reinterpret_cast<P*>(handle); }

  static int32_t get_devices(const eph_provider_api*, const eph_host* host, eph_device_list* list,
                             eph_error* error) noexcept {
    return guard(error, [&] {
      DeviceList wrapped(list);
      P::get_devices(Host(host), wrapped);
    });
  }
  static int32_t create(const eph_provider_api*, const eph_host* host,
                        const eph_provider_config* config, eph_provider** out,
                        eph_error* error) noexcept {
    *out = nullptr;
    return guard(error, [&] {
      std::unique_ptr<P> made = P::create(Host(host), Config(config));
      *out = reinterpret_cast<eph_provider*>(release_made(std::move(made), "create"));
    });
  }
  static void destroy(eph_provider* handle) noexcept { delete self(handle); }

  static int32_t get_capability(eph_provider* handle, const eph_graph* graph, eph_claims* claims,
                                eph_error* error) noexcept {
    return guard(error, [&] {
      Claims wrapped(claims);
      self(handle)->get_capability(GraphView(graph), wrapped);
    });
  }
  static int32_t get_kernels(eph_provider* handle, const eph_kernel_def** out, uint64_t* out_count,
                             eph_error* error) noexcept {
    *out = nullptr;
    *out_count = 0;
    return guard(error, [&] {
      const ArrayView<eph_kernel_def> kernels = self(handle)->kernels();
      *out = kernels.data();
      *out_count = kernels.size();
    });
  }
  static int32_t create_kernel(eph_provider* handle, const eph_graph* graph, uint32_t node,
                               eph_computation** out, eph_error* error) noexcept {
    *out = nullptr;
    return guard(error, [&] {
      *out = release_made(self(handle)->create_kernel(GraphView(graph), node), "create_kernel");
    });
  }
  static int32_t compile(eph_provider* handle, const eph_partition* partitions, uint64_t stride,
                         uint64_t count, eph_computation** out, eph_error* error) noexcept {
    std::fill_n(out, count, nullptr);
    return guard(error, [&] {
      auto computations = self(handle)->compile(Partitions(partitions, stride, count));
      if (computations.size() != count) {
        throw Failure(EPH_FAIL, "compile made " + std::to_string(computations.size()) +
                                    " computations of " + std::to_string(count) + " partitions");
      }
      for (uint64_t i = 0; i < count; ++i) {
        out[i] = release_made(std::move(computations[i]), "compile");
      }
    });
  }
  static int32_t get_ep_context_nodes(eph_provider* handle, eph_computation* const* computations,
                                      uint64_t count, eph_context_writer* writer,
                                      eph_error* error) noexcept {
    return guard(error, [&] {
      std::vector<Computation*> own;
      for (uint64_t i = 0; i < count; ++i)
        own.push_back(static_cast<Computation*>(computations[i]));
      ContextWriter wrapped(writer);
      self(handle)->get_ep_context_nodes(ArrayView<Computation*>(own), wrapped);
    });
  }
  static int32_t get_compatibility(eph_provider* handle, eph_string* out,
                                   eph_error* error) noexcept {
    *out = {};
    return guard(error, [&] { *out = to_abi(self(handle)->compatibility()); });
  }
  static int32_t validate(const eph_provider_api*, const eph_host* host, const eph_device* device,
                          eph_string text, int32_t* out_verdict, eph_error* error) noexcept {
    *out_verdict = EPH_COMPATIBILITY_UNSUPPORTED;
    return guard(error, [&] { *out_verdict = P::validate(Host(host), *device, view(text)); });
  }
  static int32_t list_targets(const eph_provider_api*, const eph_host* host, eph_device_list* list,
                              eph_error* error) noexcept {
    return guard(error, [&] {
      DeviceList wrapped(list);
      P::list_targets(Host(host), wrapped);
    });
  }
  static int32_t describe(eph_provider* handle, eph_provider_info* out, eph_error* error) noexcept {
    return guard(error, [&] {
      fill_record(out, [&](eph_provider_info& info) { self(handle)->describe(info); });
    });
  }
  static int32_t list_partitions(eph_provider* handle, eph_bytes payload, eph_name_list* list,
                                 eph_error* error) noexcept {
    return guard(error, [&] {
      for (const std::string& name : self(handle)->list_partitions(payload)) {
        ThrowingError failure;
        failure.check(list->api->add(list, to_abi(name), &failure));
      }
    });
  }
  static int32_t begin_run(eph_provider* handle, const eph_run_config* config,
                           eph_error* error) noexcept {
    return guard(error, [&] { self(handle)->begin_run(RunConfig(config)); });
  }
  static int32_t end_run(eph_provider* handle, uint64_t run_id, int32_t code,
                         eph_error* error) noexcept {
    return guard(error, [&] { self(handle)->end_run(run_id, code); });
  }
  static int32_t set_options(eph_provider* handle, const eph_option* options, uint64_t count,
                             eph_error* error) noexcept {
    return guard(error, [&] { self(handle)->set_options(Options(options, count)); });
  }
  static int32_t start_profiling(eph_provider* handle, eph_error* error) noexcept {
    return guard(error, [&] { self(handle)->start_profiling(); });
  }
  static int32_t stop_profiling(eph_provider* handle, eph_event_list* list,
                                eph_error* error) noexcept {
    return guard(error, [&] {
      EventList events(list);
      self(handle)->stop_profiling(events);
    });
  }
  static int32_t get_kept_operators(eph_provider* handle, const eph_kept_operator** out,
                                    uint64_t* out_stride, uint64_t* out_count,
                                    eph_error* error) noexcept {
    *out = nullptr;
    *out_stride = sizeof(eph_kept_operator);
    *out_count = 0;
    return guard(error, [&] {
      const ArrayView<eph_kept_operator> operators = self(handle)->kept_operators();
      *out = operators.data();
      *out_count = operators.size();
    });
  }
  static int32_t get_wishes(eph_provider* handle, const eph_graph* graph, eph_shape_wishes* wishes,
                            eph_error* error) noexcept {
    return guard(error, [&] {
      ShapeWishes wrapped(wishes);
      self(handle)->get_shape_wishes(GraphView(graph), wrapped);
    });
  }
  // Of what a later host says more about, the provider sees what it knows.
  static int32_t set_profiles(eph_provider* handle, const eph_shape_profile* profiles,
                              uint64_t stride, uint64_t count, eph_error* error) noexcept {
    return guard(error, [&] {
      std::vector<eph_shape_profile> known;
      const auto* at = reinterpret_cast<const char*>(profiles);
      for (uint64_t i = 0; i < count; ++i, at += stride) {
        known.push_back(*reinterpret_cast<const eph_shape_profile*>(at));
      }
      self(handle)->set_shape_profiles(known);
    });
  }
  static const void* get_provider_extension([[maybe_unused]] eph_provider* handle,
                                            eph_string id) noexcept {
    if constexpr (has_shared_contexts()) {
      static constexpr eph_shared_contexts_api kApi = {sizeof(eph_shared_contexts_api),
                                                       &list_partitions};
      if (view(id) == EPH_EXT_SHARED_CONTEXTS) return &kApi;
    }
    if constexpr (has_wishes()) {
      static constexpr eph_graph_wishes_api kApi = {sizeof(eph_graph_wishes_api),
                                                    &get_kept_operators};
      if (view(id) == EPH_EXT_GRAPH_WISHES) return &kApi;
    }
    if constexpr (has_shape_wishes()) {
      static constexpr eph_shapes_provider_api kApi = make_shapes_api();
      if (view(id) == EPH_EXT_SHAPES) return &kApi;
    }
    if constexpr (has_runs()) {
      static constexpr eph_run_provider_api kApi = make_run_api();
      if (view(id) == EPH_EXT_RUN) return &kApi;
    }
    if constexpr (has_profiling()) {
      static constexpr eph_profiling_api kApi = {sizeof(eph_profiling_api), &start_profiling,
                                                 &stop_profiling};
      if (view(id) == EPH_EXT_PROFILING) return &kApi;
    }
    if constexpr (has_extension()) {
      try {
        return self(handle)->extension(view(id));
      } catch (...) {
        // The slot cannot report an error, so a table whose creation fails counts as absent.
      }
    }
    return nullptr;
  }

  static constexpr eph_run_provider_api make_run_api() {
    eph_run_provider_api api = {};
    api.struct_size = sizeof(api);
    if constexpr (has_begin_run()) api.begin_run = &begin_run;
    if constexpr (has_end_run()) api.end_run = &end_run;
    if constexpr (has_set_options()) api.set_options = &set_options;
    return api;
  }

  static constexpr eph_shapes_provider_api make_shapes_api() {
    eph_shapes_provider_api api = {};
    api.struct_size = sizeof(api);
    if constexpr (has_shape_profiles()) api.set_profiles = &set_profiles;
    api.get_wishes = &get_wishes;
    return api;
  }

  static constexpr eph_provider_api make() {
    static_assert(has_kernels() == has_create_kernel(),
                  "declare both kernels and create_kernel, or neither");
    static_assert(has_compatibility() == DeclaresValidate<P>::value,
                  "declare both compatibility and validate, or neither");
    static_assert(has_profiling() == has_stop_profiling(),
                  "declare both start_profiling and stop_profiling, or neither");
    static_assert(has_shape_wishes() || !has_shape_profiles(),
                  "declare get_shape_wishes too, or no set_shape_profiles");
    eph_provider_api api = {};
    api.struct_size = sizeof(api);
    api.type_name = to_abi(P::kTypeName);
    api.name = to_abi(P::kName);
    api.vendor = to_abi(P::kVendor);
    api.get_devices = &get_devices;
    api.create = &create;
    api.destroy = &destroy;
    if constexpr (has_capability()) api.get_capability = &get_capability;
    if constexpr (has_kernels()) {
      api.get_kernels = &get_kernels;
      api.create_kernel = &create_kernel;
    }
    if constexpr (has_compile()) api.compile = &compile;
    if constexpr (has_context()) api.get_ep_context_nodes = &get_ep_context_nodes;
    if constexpr (has_compatibility()) {
      api.get_compatibility = &get_compatibility;
      api.validate = &validate;
    }
    if constexpr (DeclaresListTargets<P>::value) api.list_targets = &list_targets;
    api.describe = &describe;
    if constexpr (has_extension() || has_shared_contexts() || has_wishes() || has_shape_wishes() ||
                  has_runs() || has_profiling()) {
      api.get_provider_extension = &get_provider_extension;
    }
    if constexpr (DeviceTable<P>::has_devices()) {
      api.get_extension = &DeviceTable<P>::get_extension;
    }
    return api;
  }

  // Whether P declares the function itself rather than inheriting it.
#define EPH_DETAIL_DECLARES(test, function)                                        \
  static constexpr bool test() {                                                   \
    return !std::is_same_v<decltype(&P::function), decltype(&Provider::function)>; \
  }
  EPH_DETAIL_DECLARES(has_capability, get_capability)
  EPH_DETAIL_DECLARES(has_kernels, kernels)
  EPH_DETAIL_DECLARES(has_create_kernel, create_kernel)
  EPH_DETAIL_DECLARES(has_compile, compile)
  EPH_DETAIL_DECLARES(has_context, get_ep_context_nodes)
  EPH_DETAIL_DECLARES(has_compatibility, compatibility)
  EPH_DETAIL_DECLARES(has_shared_contexts, list_partitions)
  EPH_DETAIL_DECLARES(has_wishes, kept_operators)
  EPH_DETAIL_DECLARES(has_shape_wishes, get_shape_wishes)
  EPH_DETAIL_DECLARES(has_shape_profiles, set_shape_profiles)
  EPH_DETAIL_DECLARES(has_begin_run, begin_run)
  EPH_DETAIL_DECLARES(has_end_run, end_run)
  EPH_DETAIL_DECLARES(has_set_options, set_options)
  EPH_DETAIL_DECLARES(has_profiling, start_profiling)
  EPH_DETAIL_DECLARES(has_stop_profiling, stop_profiling)
  EPH_DETAIL_DECLARES(has_extension, extension)
#undef EPH_DETAIL_DECLARES
  static constexpr bool has_runs() { return has_begin_run() || has_end_run() || has_set_options(); }
};

}  // namespace detail

}  // namespace eph
