// Calls that are about a provider as a whole.
#include <string>
#include <utility>

#include "host/plugin/adopt.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"
#include "host/worker/program/served_graph.h"

namespace ephost::worker {

template <class Table>
Status ServedCalls::adopt_extension(ServedProvider& provider, wire::Provider& out) {
  constexpr std::string_view kId = plugin::TableSlots<Table>::kId;
  EPHOST_ASSIGN_OR_RETURN(const void* const given,
                          plugin::call(site("get_provider_extension"), api().get_provider_extension,
                                       provider.handle, eph_string{kId.data(), kId.size()}));
  if (given == nullptr) return {};
  auto& table = std::get<std::optional<Table>>(provider.extensions);
  EPHOST_ASSIGN_OR_RETURN(table, plugin::adopt<Table>(given, site("get_provider_extension")));
  wire::Extension& extension = *out.add_extensions();
  extension.set_id(std::string(kId));
  extension.set_slots(slots_of(*table));
  return {};
}

Status ServedCalls::adopt_extensions(ServedProvider& provider, wire::Provider& out) {
  if (api().get_provider_extension == nullptr) return {};
  Status status;
  plugin::ProviderExtensions::for_each([&]<class Table>() {
    if (status.ok()) status = adopt_extension<Table>(provider, out);
  });
  return status;
}

template <>
void ServedCalls::serve<&eph_provider_api::create>(const Call& call, wire::Answer& out) {
  const wire::Create& given = call->request().create();
  auto provider = std::make_unique<ServedProvider>(name(), given);
  Storage storage;
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.options = read_all<eph_option>(given.options(), storage);
  config.option_count = static_cast<uint64_t>(given.options_size());
  config.devices = read_all<eph_device>(given.devices(), storage);
  config.device_stride = sizeof(eph_device);
  config.device_count = static_cast<uint64_t>(given.devices_size());
  if (given.has_target()) config.target = storage.keep(read(given.target(), storage));
  config.directory = text_of(given.directory());
  config.purpose = given.purpose();
  std::vector<eph_device_handle*> opened;
  for (const uint64_t device : given.opened()) opened.push_back(device_of(device).handle);
  if (!opened.empty()) config.opened = opened.data();
  const bool is_made =
      call_slot(site("create"), out, api().create, plugin_->provider_self,
                static_cast<const eph_host*>(&provider->host),
                static_cast<const eph_provider_config*>(&config), &provider->handle);
  if (provider->handle == nullptr) return;
  wire::Provider& made = *out.mutable_provider();
  if (is_made) {
    const Status adopted = adopt_extensions(*provider, made);
    if (!adopted.ok()) fail(out, adopted);
  }
  made.set_handle(reinterpret_cast<uint64_t>(provider.release()));
}

template <>
void ServedCalls::serve<&eph_provider_api::destroy>(const Call& call, wire::Answer&) {
  const std::unique_ptr<ServedProvider> own(&provider_of(call->request()));
  plugin::call_release(site("destroy"), api().destroy, own->handle);
}

template <>
void ServedCalls::serve<&eph_provider_api::get_capability>(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  ServedGraph graph(*call, request.graph());
  ClaimCollector claims(*call, name(), request.graph().node_count(), out);
  call_slot(site("get_capability", "graph", request.graph().name()), out, api().get_capability,
            provider_of(request).handle, static_cast<const eph_graph*>(&graph),
            static_cast<eph_claims*>(&claims));
}

}  // namespace ephost::worker
