// Calls that are about a provider as a whole.
#include <string>
#include <utility>

#include "host/plugin/adopt.h"
#include "host/plugin/loading/load_lock.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"
#include "host/worker/program/served_graph.h"

namespace ephost::worker {

void ServedCalls::list_devices(bool targets, wire::Answer& out) {
  const auto lock = plugin::lock_loading();
  const ServedHost host(std::string(name()), {});
  DeviceCollector collector(name(), out);
  call_slot(site(targets ? "list_targets" : "get_devices"), out,
            targets ? api().list_targets : api().get_devices, plugin_->provider_self,
            static_cast<const eph_host*>(&host), static_cast<eph_device_list*>(&collector));
}

void ServedCalls::validate(const wire::Request& request, wire::Answer& out) {
  const ServedHost host(std::string(name()), {});
  Storage storage;
  const eph_device device = read(request.device(), storage);
  int32_t verdict = 0;
  call_slot(site("validate"), out, api().validate, plugin_->provider_self,
            static_cast<const eph_host*>(&host), &device, text_of(request.text()), &verdict);
  out.set_verdict(verdict);
}

template <class Table>
Status ServedCalls::adopt_extension(ServedProvider& provider, wire::Provider& out) {
  constexpr std::string_view kId = plugin::TableSlots<Table>::kId;
  EPHOST_ASSIGN_OR_RETURN(const void* const given,
                          plugin::call(site("get_extension"), api().get_extension, provider.handle,
                                       eph_string{kId.data(), kId.size()}));
  if (given == nullptr) return {};
  auto& table = std::get<std::optional<Table>>(provider.extensions);
  EPHOST_ASSIGN_OR_RETURN(table, plugin::adopt<Table>(given, site("get_extension")));
  wire::Extension& extension = *out.add_extensions();
  extension.set_id(std::string(kId));
  extension.set_slots(slots_of(*table));
  return {};
}

Status ServedCalls::adopt_extensions(ServedProvider& provider, wire::Provider& out) {
  if (api().get_extension == nullptr) return {};
  Status status;
  plugin::ProviderExtensions::for_each([&]<class Table>() {
    if (status.ok()) status = adopt_extension<Table>(provider, out);
  });
  return status;
}

void ServedCalls::create(const wire::Request& request, wire::Answer& out) {
  const wire::Create& given = request.create();
  auto provider = std::make_unique<ServedProvider>(name(), given);
  Storage storage;
  const auto read_device = [&](const wire::Device& device) { return read(device, storage); };
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.options = read_all<eph_option>(given.options(), storage,
                                        [](const wire::Option& option) { return read(option); });
  config.option_count = static_cast<uint64_t>(given.options_size());
  config.devices = read_all<eph_device>(given.devices(), storage, read_device);
  config.device_stride = sizeof(eph_device);
  config.device_count = static_cast<uint64_t>(given.devices_size());
  if (given.has_target()) config.target = storage.keep(read_device(given.target()));
  config.directory = text_of(given.directory());
  config.purpose = given.purpose();
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

void ServedCalls::get_capability(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  ServedGraph graph(*call, request.graph());
  ClaimCollector claims(*call, name(), request.graph().node_count(), out);
  call_slot(site("get_capability", "graph", request.graph().name()), out, api().get_capability,
            provider_of(request).handle, static_cast<const eph_graph*>(&graph),
            static_cast<eph_claims*>(&claims));
}

void ServedCalls::get_kernels(const wire::Request& request, wire::Answer& out) {
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  if (!call_slot(site("get_kernels"), out, api().get_kernels, provider_of(request).handle, &kernels,
                 &count)) {
    return;
  }
  const auto list =
      plugin::adopt_array(kernels, count, kMaxEntries, site("get_kernels"), "out_kernels");
  if (!list.ok()) return fail(out, list.status());
  for (const eph_kernel_def& kernel : *list) {
    const Status rules = plugin::check_array(kernel.rules, kernel.rule_count, kMaxEntries,
                                             site("get_kernels"), "rules");
    if (!rules.ok()) return fail(out, rules);
    write(kernel, *out.add_kernels());
  }
}

void ServedCalls::get_compatibility(const wire::Request& request, wire::Answer& out) {
  eph_string text = {};
  if (call_slot(site("get_compatibility"), out, api().get_compatibility,
                provider_of(request).handle, &text)) {
    out.set_text(copy(text));
  }
}

void ServedCalls::describe(const wire::Request& request, wire::Answer& out) {
  eph_provider_info info = {};
  info.struct_size = sizeof(info);
  if (!call_slot(site("describe"), out, api().describe, provider_of(request).handle, &info)) {
    return;
  }
  const auto adopted = plugin::adopt<eph_provider_info>(&info, site("describe"));
  if (!adopted.ok()) return fail(out, adopted.status());
  out.set_max_concurrent(adopted->max_concurrent);
}

}  // namespace ephost::worker
