// A layer stands between the host and a provider: it implements eph_provider_api over another one,
// and neither side knows. This header makes the tables for a layer `L` out of the list of slots
// (host/plugin/slots.h), so that a layer says what it does around a call, and nothing else. `L`
// has:
//
//   // A function of the plugin is called: `next(arguments...)` calls it. `call` says of which
//   // provider, computation or device. Arguments are those that the plugin gets (passed.h).
//   template <auto Member, class Next, class... A> auto to_plugin(const Call<L>&, Next, A...);
//   // The plugin calls a function of the host's `object`, for which `next(arguments...)` stands.
//   template <auto Member, class Object, class Next, class... A>
//   auto from_plugin(const Object& object, Next, A...) noexcept;
//   // What the layer keeps of each provider, computation and device; made from a Call<L>.
//   struct ProviderState; struct ComputationState; struct DeviceState;
//   // What it keeps of each object of the host that the plugin gets; made from nothing.
//   struct ObjectState;
//   // Holds such an object for the time of a call: LentOnStack, or what keeps it for longer. Made
//   // from the layer and the arguments of the object's constructor.
//   template <class T> class Lent;
//   // ErrorObject, or a class derived from it.
//   class Error;
//
// Exceptions of a plugin pass through to the host, which reports them.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/layers/decorate/passed.h"
#include "host/plugin/adopt.h"
#include "host/plugin/slots.h"

namespace ephost::layers {

template <class L>
class ProviderTable;

// What a call of the plugin is about.
template <class L>
struct Call {
  const ProviderTable<L>& table;
  ProviderObject<L>* provider = nullptr;        // null: a slot that needs none
  ComputationObject<L>* computation = nullptr;  // null: a slot of the provider
  DeviceObject<L>* device = nullptr;            // null: a slot of another table
};

// The type of slots has noexcept in it. The functions here do not, so that what a plugin throws
// reaches the host.
template <class Slot, class Function>
Slot as_slot(Function function) {
  return reinterpret_cast<Slot>(function);
}

// The table that a plugin shows of itself: copied and checked, so that it can be decorated; the
// plugin's own where it is broken, which the host then finds out.
template <class Table>
struct Adopted {
  Table inner = {};
  Table outer = {};
};

// The slots of `table` that the plugin has are those that `choose` gives.
template <class Table, class Choose>
void fill_known_slots(Table& table, const Table& inner, Choose choose) {
  for_each_slot<Table>([&]<auto Member>() {
    using Function = std::remove_reference_t<decltype(table.*Member)>;
    const auto function = choose.template operator()<Member>();
    table.*Member = inner.*Member == nullptr ? nullptr : as_slot<Function>(function);
  });
}

// A slot of the plugin without the noexcept of its type: where that is believed, an exception ends
// in std::terminate.
template <class R, class... A>
auto may_throw(R (*slot)(A...) noexcept) -> R (*)(A...) {
  return slot;
}

// Calls a slot of the plugin by way of the layer, with arguments as the plugin gets them.
template <auto Member, class L, class Table, class First, class... A>
auto call_plugin(const Call<L>& call, L& layer, const Table& inner, First first, A... arguments) {
  const auto next = [&](auto... passed) { return may_throw(inner.*Member)(first, passed...); };
  return layer.template to_plugin<Member>(call, next, arguments...);
}

// Slots that take the table, a provider, or a computation as their first argument.
template <class L, auto Member, class Type = decltype(Member)>
struct PluginThunk;
template <class L, auto Member, class Table, class R, class... A>
struct PluginThunk<L, Member, R (*Table::*)(const eph_provider_api*, A...) noexcept> {
  static R call(const eph_provider_api* self, A... arguments) {
    const auto& table = ProviderTable<L>::of(self);
    return call_plugin<Member>(Call<L>{table}, table.layer(), table.inner(), table.inner_self(),
                               Passed<L, A>(table.layer(), arguments).get()...);
  }
};
template <class L, auto Member, class Table, class R, class... A>
struct PluginThunk<L, Member, R (*Table::*)(eph_provider*, A...) noexcept> {
  static R call(eph_provider* handle, A... arguments) {
    auto& provider = ProviderObject<L>::of(handle);
    return call_plugin<Member>(Call<L>{provider.table(), &provider}, provider.layer(),
                               provider.template inner_table<Table>(), provider.inner(),
                               Passed<L, A>(provider.layer(), arguments).get()...);
  }
};
template <class L, auto Member, class Table, class R, class... A>
struct PluginThunk<L, Member, R (*Table::*)(eph_computation*, A...) noexcept> {
  static R call(eph_computation* handle, A... arguments) {
    auto& computation = ComputationObject<L>::of(handle);
    auto& provider = computation.provider();
    return call_plugin<Member>(Call<L>{provider.table(), &provider, &computation}, provider.layer(),
                               computation.inner_table(), computation.inner(),
                               Passed<L, A>(provider.layer(), arguments).get()...);
  }
};

template <class L, auto Member, class Table, class R, class... A>
struct PluginThunk<L, Member, R (*Table::*)(eph_device_handle*, A...) noexcept> {
  static R call(eph_device_handle* handle, A... arguments) {
    auto& device = DeviceObject<L>::of(handle);
    return call_plugin<Member>(Call<L>{.table = device.table(), .device = &device}, device.layer(),
                               device.table().devices(), device.inner(),
                               Passed<L, A>(device.layer(), arguments).get()...);
  }
};

template <class L>
class ComputationObject : public eph_computation {
 public:
  // Takes over `inner`. `name` is that of its node or partition; of a node without one, the
  // operator's.
  ComputationObject(ProviderObject<L>& provider, eph_computation* inner,
                    const eph_computation_api& table, std::string name)
      : eph_computation{&outer_table_},
        provider_(provider),
        inner_(inner),
        inner_table_(table),
        name_(std::move(name)),
        state_(Call<L>{provider.table(), &provider, this}) {
    outer_table_.struct_size = sizeof(outer_table_);
    fill_known_slots(
        outer_table_, inner_table_, []<auto Member>() {
          if constexpr (kIsSame<Member, &eph_computation_api::destroy>) {
            return &ComputationObject::destroy;
          } else {
            return &PluginThunk<L, Member>::call;
          }
        });
  }
  ComputationObject(const ComputationObject&) = delete;
  ComputationObject& operator=(const ComputationObject&) = delete;

  [[nodiscard]] static ComputationObject& of(eph_computation* handle) {
    return static_cast<ComputationObject&>(*handle);
  }
  [[nodiscard]] ProviderObject<L>& provider() const { return provider_; }
  [[nodiscard]] eph_computation* inner() const { return inner_; }
  [[nodiscard]] const eph_computation_api& inner_table() const { return inner_table_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] typename L::ComputationState& state() { return state_; }

 private:
  static void destroy(eph_computation* handle) {
    if (handle == nullptr) return;
    const std::unique_ptr<ComputationObject> own(&of(handle));
    PluginThunk<L, &eph_computation_api::destroy>::call(handle);
  }

  ProviderObject<L>& provider_;
  eph_computation* const inner_;
  const eph_computation_api inner_table_;
  eph_computation_api outer_table_ = {};
  const std::string name_;
  [[no_unique_address]] typename L::ComputationState state_;
};

template <class L>
class ProviderObject {
 public:
  ProviderObject(const ProviderTable<L>& table, const eph_host* host)
      : table_(table), host_(table.layer(), table.layer(), host), state_(Call<L>{table, this}) {}
  ProviderObject(const ProviderObject&) = delete;
  ProviderObject& operator=(const ProviderObject&) = delete;

  [[nodiscard]] static ProviderObject& of(eph_provider* handle) {
    return *reinterpret_cast<ProviderObject*>(handle);
  }
  [[nodiscard]] eph_provider* handle() { return reinterpret_cast<eph_provider*>(this); }
  [[nodiscard]] const ProviderTable<L>& table() const { return table_; }
  [[nodiscard]] L& layer() const { return table_.layer(); }
  [[nodiscard]] eph_provider* inner() const { return inner_; }
  void set_inner(eph_provider* inner) { inner_ = inner; }
  [[nodiscard]] const HostObject<L, eph_host>& host() const { return *host_.get(); }
  [[nodiscard]] typename L::ProviderState& state() { return state_; }

  template <class Table>
  [[nodiscard]] const Table& inner_table() const {
    if constexpr (std::is_same_v<Table, eph_provider_api>) {
      return table_.inner();
    } else {
      return std::get<Adopted<Table>>(extensions_).inner;
    }
  }

  // The layer's own table of an optional interface that the plugin offers; null for one that the
  // layer does not know, as it could not decorate that.
  [[nodiscard]] const void* extension(eph_string id, const void* given) {
    const void* own = nullptr;
    plugin::ProviderExtensions::find({id.data, id.size},
                                     [&]<class Table>() { own = decorated<Table>(given); });
    return own;
  }

  // The layer's own computation over one that the plugin made; the plugin's own if its table is
  // broken, which the host then reports.
  [[nodiscard]] eph_computation* decorated(eph_computation* made, std::string_view slot,
                                           std::string name) {
    if (made == nullptr) return nullptr;
    const auto table = plugin::adopt_computation(made->api, {table_.provider_name(), slot});
    if (!table.ok()) return made;
    return new ComputationObject<L>(*this, made, *table, std::move(name));
  }

 private:
  template <class Table>
  const void* decorated(const void* given) {
    if (given == nullptr) return nullptr;
    const auto adopted =
        plugin::adopt<Table>(given, {table_.provider_name(), "get_provider_extension"});
    if (!adopted.ok()) return given;
    const std::lock_guard lock(mutex_);
    auto& [inner, outer] = std::get<Adopted<Table>>(extensions_);
    inner = *adopted;
    outer.struct_size = sizeof(outer);
    fill_known_slots(
        outer, inner, []<auto Member>() { return &PluginThunk<L, Member>::call; });
    return &outer;
  }

  const ProviderTable<L>& table_;
  typename L::template Lent<HostObject<L, eph_host>> host_;
  eph_provider* inner_ = nullptr;
  std::mutex mutex_;  // guards extensions_ while they are asked for
  plugin::ProviderExtensions::TupleOf<Adopted> extensions_;
  typename L::ProviderState state_;
};

// A device that the plugin has opened.
template <class L>
class DeviceObject {
 public:
  DeviceObject(const ProviderTable<L>& table, const eph_host* host)
      : table_(table),
        host_(table.layer(), table.layer(), host),
        state_(Call<L>{.table = table, .device = this}) {}
  DeviceObject(const DeviceObject&) = delete;
  DeviceObject& operator=(const DeviceObject&) = delete;

  [[nodiscard]] static DeviceObject& of(eph_device_handle* handle) {
    return *reinterpret_cast<DeviceObject*>(handle);
  }
  [[nodiscard]] eph_device_handle* handle() { return reinterpret_cast<eph_device_handle*>(this); }
  [[nodiscard]] const ProviderTable<L>& table() const { return table_; }
  [[nodiscard]] L& layer() const { return table_.layer(); }
  [[nodiscard]] eph_device_handle* inner() const { return inner_; }
  void set_inner(eph_device_handle* inner) { inner_ = inner; }
  [[nodiscard]] const HostObject<L, eph_host>& host() const { return *host_.get(); }
  [[nodiscard]] typename L::DeviceState& state() { return state_; }

 private:
  const ProviderTable<L>& table_;
  typename L::template Lent<HostObject<L, eph_host>> host_;
  eph_device_handle* inner_ = nullptr;
  [[no_unique_address]] typename L::DeviceState state_;
};

// The table that the host sees. At a fixed address, for the slots that take it.
template <class L>
class ProviderTable : public eph_provider_api {
 public:
  // `inner` is adopted; `inner_self` is what its functions take. Strings of the table are borrowed
  // from the plugin.
  ProviderTable(L& layer, const eph_provider_api& inner, const eph_provider_api* inner_self)
      : eph_provider_api(inner), layer_(layer), inner_(inner), inner_self_(inner_self) {
    struct_size = sizeof(eph_provider_api);
    fill_known_slots(
        static_cast<eph_provider_api&>(*this), inner_,
        []<auto Member>() { return choose<Member>(); });
  }
  ProviderTable(const ProviderTable&) = delete;
  ProviderTable& operator=(const ProviderTable&) = delete;

  [[nodiscard]] static const ProviderTable& of(const eph_provider_api* self) {
    return static_cast<const ProviderTable&>(*self);
  }
  [[nodiscard]] L& layer() const { return layer_; }
  [[nodiscard]] const eph_provider_api& inner() const { return inner_; }
  [[nodiscard]] const eph_provider_api* inner_self() const { return inner_self_; }
  // The plugin's table of devices, once the host has asked for it.
  [[nodiscard]] const eph_device_api& devices() const { return devices_.inner; }
  [[nodiscard]] std::string_view provider_name() const {
    return {inner_.type_name.data, inner_.type_name.size};
  }

 private:
  using Provider = ProviderObject<L>;

  // The function of a slot: the generic one, or one below.
  template <auto Member>
  static auto choose() {
    using Api = eph_provider_api;
    if constexpr (kIsSame<Member, &Api::create>)
      return &ProviderTable::create_provider;
    else if constexpr (kIsSame<Member, &Api::destroy>)
      return &ProviderTable::destroy_provider;
    else if constexpr (kIsSame<Member, &Api::create_kernel>)
      return &ProviderTable::create_one_kernel;
    else if constexpr (kIsSame<Member, &Api::compile>)
      return &ProviderTable::compile_partitions;
    else if constexpr (kIsSame<Member, &Api::get_ep_context_nodes>)
      return &ProviderTable::write_context;
    else if constexpr (kIsSame<Member, &Api::get_provider_extension>)
      return &ProviderTable::find_provider_extension;
    else if constexpr (kIsSame<Member, &Api::get_extension>)
      return &ProviderTable::find_extension;
    else
      return &PluginThunk<L, Member>::call;
  }
  template <auto Member>
  static auto choose_of_device() {
    if constexpr (kIsSame<Member, &eph_device_api::open>)
      return &ProviderTable::open_device;
    else if constexpr (kIsSame<Member, &eph_device_api::close>)
      return &ProviderTable::close_device;
    else
      return &PluginThunk<L, Member>::call;
  }

  // Whatever the plugin makes is kept in an object of the layer.
  static int32_t create_provider(const eph_provider_api* self, const eph_host* host,
                                 const eph_provider_config* config, eph_provider** out_provider,
                                 eph_error* error) {
    const ProviderTable& table = of(self);
    *out_provider = nullptr;
    auto provider = std::make_unique<Provider>(table, host);
    eph_provider* made = nullptr;
    Passed<L, eph_error*> passed(table.layer(), error);
    eph_provider_config own = *config;
    std::vector<eph_device_handle*> opened;
    if (own.opened != nullptr) {
      for (uint64_t i = 0; i < own.device_count; ++i) {
        opened.push_back(DeviceObject<L>::of(own.opened[i]).inner());
      }
      own.opened = opened.data();
    }
    const int32_t code = call_plugin<&eph_provider_api::create>(
        Call<L>{table, provider.get()}, table.layer(), table.inner(), table.inner_self(),
        static_cast<const eph_host*>(&provider->host()),
        static_cast<const eph_provider_config*>(&own), &made, passed.get());
    if (made == nullptr) return code;
    provider->set_inner(made);
    *out_provider = provider.release()->handle();
    return code;
  }
  static void destroy_provider(eph_provider* handle) {
    if (handle == nullptr) return;
    const std::unique_ptr<Provider> own(&Provider::of(handle));
    PluginThunk<L, &eph_provider_api::destroy>::call(handle);
  }
  static int32_t create_one_kernel(eph_provider* handle, const eph_graph* graph, uint32_t node,
                                   eph_computation** out_computation, eph_error* error) {
    const int32_t code = PluginThunk<L, &eph_provider_api::create_kernel>::call(
        handle, graph, node, out_computation, error);
    if (*out_computation != nullptr) {
      *out_computation = Provider::of(handle).decorated(*out_computation, "create_kernel",
                                                        name_of_node(graph, node));
    }
    return code;
  }
  static int32_t compile_partitions(eph_provider* handle, const eph_partition* partitions,
                                    uint64_t stride, uint64_t count,
                                    eph_computation** out_computations, eph_error* error) {
    Provider& provider = Provider::of(handle);
    std::vector<eph_partition> passed(count);
    using Graph = Passed<L, const eph_graph*>;
    std::vector<std::unique_ptr<Graph>> graphs(count);
    for (uint64_t i = 0; i < count; ++i) {
      const auto* given = reinterpret_cast<const eph_partition*>(
          reinterpret_cast<const std::byte*>(partitions) + i * stride);
      passed[i] = *given;
      passed[i].struct_size = sizeof(eph_partition);
      graphs[i] = std::make_unique<Graph>(provider.layer(), given->graph);
      passed[i].graph = graphs[i]->get();
    }
    const int32_t code = PluginThunk<L, &eph_provider_api::compile>::call(
        handle, passed.data(), sizeof(eph_partition), count, out_computations, error);
    for (uint64_t i = 0; i < count; ++i) {
      const eph_string name = passed[i].name;
      out_computations[i] =
          provider.decorated(out_computations[i], "compile", std::string(name.data, name.size));
    }
    return code;
  }
  static int32_t write_context(eph_provider* handle, eph_computation* const* computations,
                               uint64_t count, eph_context_writer* writer, eph_error* error) {
    std::vector<eph_computation*> passed;
    for (uint64_t i = 0; i < count; ++i) {
      passed.push_back(ComputationObject<L>::of(computations[i]).inner());
    }
    return PluginThunk<L, &eph_provider_api::get_ep_context_nodes>::call(handle, passed.data(),
                                                                         count, writer, error);
  }
  static const void* find_provider_extension(eph_provider* handle, eph_string id) {
    using Thunk = PluginThunk<L, &eph_provider_api::get_provider_extension>;
    return Provider::of(handle).extension(id, Thunk::call(handle, id));
  }
  static const void* find_extension(const eph_provider_api* self, eph_string id) {
    const void* const given = PluginThunk<L, &eph_provider_api::get_extension>::call(self, id);
    if (std::string_view(id.data, id.size) != EPH_EXT_DEVICE) return nullptr;
    return of(self).decorated_devices(given);
  }
  const void* decorated_devices(const void* given) const {
    if (given == nullptr) return nullptr;
    const auto adopted = plugin::adopt_devices(given, {provider_name(), "get_extension"});
    if (!adopted.ok()) return given;
    const std::lock_guard lock(mutex_);
    auto& [self, inner, outer] = devices_;
    if (self != nullptr) return &outer;
    self = static_cast<const eph_device_api*>(given);
    inner = *adopted;
    outer.table = this;
    outer.struct_size = sizeof(eph_device_api);
    fill_known_slots(
        static_cast<eph_device_api&>(outer), inner,
        []<auto Member>() { return choose_of_device<Member>(); });
    return &outer;
  }
  static int32_t open_device(const eph_device_api* self, const eph_host* host,
                             const eph_device* device, eph_device_handle** out_device,
                             eph_error* error) {
    const ProviderTable& table = *static_cast<const OuterDevices*>(self)->table;
    *out_device = nullptr;
    auto opened = std::make_unique<DeviceObject<L>>(table, host);
    eph_device_handle* made = nullptr;
    Passed<L, eph_error*> passed(table.layer(), error);
    const int32_t code = call_plugin<&eph_device_api::open>(
        Call<L>{.table = table, .device = opened.get()}, table.layer(), table.devices_.inner,
        table.devices_.self, static_cast<const eph_host*>(&opened->host()), device, &made,
        passed.get());
    if (made == nullptr) return code;
    opened->set_inner(made);
    *out_device = opened.release()->handle();
    return code;
  }
  static void close_device(eph_device_handle* handle) {
    if (handle == nullptr) return;
    const std::unique_ptr<DeviceObject<L>> own(&DeviceObject<L>::of(handle));
    PluginThunk<L, &eph_device_api::close>::call(handle);
  }

  static std::string name_of_node(const eph_graph* graph, uint32_t node) {
    eph_node_info info = {};
    info.struct_size = sizeof(info);
    eph_error ignored = {&kIgnoresMessages};
    if (graph->api->get_node(graph, node, &info, &ignored) != EPH_OK) return {};
    const eph_string name = info.name.size != 0 ? info.name : info.op_type;
    return std::string(name.data, name.size);
  }

  L& layer_;
  const eph_provider_api inner_;
  const eph_provider_api* const inner_self_;
  // The table of devices that the host sees, at a fixed address.
  struct OuterDevices : eph_device_api {
    const ProviderTable* table = nullptr;
  };
  struct Devices {
    const eph_device_api* self = nullptr;  // the plugin's own, which its `open` takes
    eph_device_api inner = {};
    OuterDevices outer = {};
  };
  mutable std::mutex mutex_;  // guards devices_ while they are asked for
  mutable Devices devices_;
};

}  // namespace ephost::layers
