// Loading the plugin, and the operators that it brings.
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plugin/adopt.h"
#include "host/worker/program/served_calls.h"

namespace ephost::worker {

Status ServedCalls::load(const wire::Load& load, wire::Loaded& out) {
  plugin::HostOffer offer;
  offer.minor_min = load.minor_min();
  offer.minor_max = load.minor_max();
  offer.extensions.assign(load.extensions().begin(), load.extensions().end());
  EPHOST_ASSIGN_OR_RETURN(const manifest::FoundPlugin found,
                          manifest::read_plugin(load.manifest()));
  if (found.text != load.manifest_text()) {
    return Status(StatusCode::kEpFail,
                  formatted("{} was changed after it had been checked; try again",
                            quote(found.manifest.file.native())));
  }
  // The host has judged owner, signature and earlier failures.
  registry_ = std::make_unique<plugin::Registry>(std::move(offer));
  if (load.listed_only()) registry_->load_listed_only();
  EPHOST_ASSIGN_OR_RETURN(plugin_, registry_->load(found));
  out.set_minor(plugin_->abi_minor);
  out.set_abi_minor_min(plugin_->preamble.abi_minor_min);
  out.set_abi_minor_max(plugin_->preamble.abi_minor_max);
  out.set_id(copy(plugin_->preamble.id));
  out.set_version(copy(plugin_->preamble.version));
  out.set_build_flags(plugin_->preamble.build_flags);
  out.set_flags(plugin_->preamble.flags);
  out.set_type_name(copy(api().type_name));
  out.set_name(copy(api().name));
  out.set_vendor(copy(api().vendor));
  out.set_slots(slots_of(api()));
  load_devices(out);
  load_operators(out);
  return {};
}

// A table that lacks what it needs is one without functions, which the host refuses.
void ServedCalls::load_devices(wire::Loaded& out) {
  if (api().get_extension == nullptr) return;
  const eph_string id = EPH_STRING(EPH_EXT_DEVICE);
  const Result<const void*> given =
      plugin::call(site("get_extension"), api().get_extension, plugin_->provider_self, id);
  if (given.ok() && *given == nullptr) return;
  out.set_has_devices(true);
  if (!given.ok()) return;
  const auto table = plugin::adopt_devices(*given, site("get_extension"));
  if (!table.ok()) return;
  devices_ = *table;
  devices_self_ = static_cast<const eph_device_api*>(*given);
  out.set_device_slots(slots_of(devices_));
}

void ServedCalls::load_operators(wire::Loaded& out) {
  if (plugin_->api.get_extension == nullptr) return;
  const eph_string id = EPH_STRING(EPH_EXT_OPERATORS);
  const Result<const void*> given =
      plugin::call(site("get_extension"), plugin_->api.get_extension, plugin_->api_self, id);
  if (given.ok() && *given == nullptr) return;
  out.set_has_operators(true);
  const auto broken = [&](const Status& status) {
    out.set_operators_code(static_cast<int32_t>(status.code()));
    out.set_operators_message(status.message());
  };
  if (!given.ok()) return broken(given.status());
  const auto table = plugin::adopt<eph_operators_api>(*given, site("get_extension"));
  if (!table.ok()) return broken(table.status());
  const eph_operator_def* records = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  wire::Answer answer;
  if (!call_slot(site("get_operators"), answer, table->get_operators,
                 static_cast<const eph_operators_api*>(*given), &records, &stride, &count)) {
    out.set_operators_code(answer.code());
    out.set_operators_message(answer.message());
    return;
  }
  const auto adopted =
      plugin::adopt_records(records, stride, count, kMaxEntries, site("get_operators"));
  if (!adopted.ok()) return broken(adopted.status());
  for (const auto& definition : *adopted) {
    write(definition.copy, *out.add_operators());
    definitions_.push_back(definition.given);
  }
}

}  // namespace ephost::worker
