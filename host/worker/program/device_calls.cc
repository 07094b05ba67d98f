// Calls that are about a device.
#include <memory>
#include <utility>

#include "host/plugin/adopt.h"
#include "host/worker/program/served_calls.h"

namespace ephost::worker {

using Devices = eph_device_api;

template <>
void ServedCalls::serve<&Devices::open>(const Call& call, wire::Answer& out) {
  const wire::Create& given = call->request().create();
  auto device = std::make_unique<ServedDevice>(name(), given);
  Storage storage;
  const eph_device* const record = read_all<eph_device>(given.devices(), storage);
  call_slot(site("open"), out, devices_.open, devices_self_,
            static_cast<const eph_host*>(&device->host), record, &device->handle);
  if (device->handle == nullptr) return;
  out.add_numbers(reinterpret_cast<uint64_t>(device.release()));
}

template <>
void ServedCalls::serve<&Devices::close>(const Call& call, wire::Answer&) {
  const std::unique_ptr<ServedDevice> own(&device_of(call->request().opened()));
  plugin::call_release(site("close"), devices_.close, own->handle);
}

template <>
void ServedCalls::serve<&Devices::get_status>(const Call& call, wire::Answer& out) {
  if (devices_.get_status == nullptr) return;
  call_slot(site("get_status"), out, devices_.get_status,
            device_of(call->request().opened()).handle);
}

template <>
void ServedCalls::serve<&Devices::get_memories>(const Call& call, wire::Answer& out) {
  const eph_memory_info* memories = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  if (!call_slot(site("get_memories"), out, devices_.get_memories,
                 device_of(call->request().opened()).handle, &memories, &stride, &count)) {
    return;
  }
  const auto list =
      plugin::adopt_records(memories, stride, count, kMaxEntries, site("get_memories"));
  if (!list.ok()) return fail(out, list.status());
  for (const auto& memory : *list) write(memory.copy, *out.add_memories());
}

// The host's side of the copy is a place in shared memory, whose address is 0.
template <>
void ServedCalls::serve<&Devices::copy>(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  eph_copy copy = {};
  copy.struct_size = sizeof(copy);
  copy.to_memory = static_cast<uint32_t>(request.numbers(0));
  copy.to = reinterpret_cast<void*>(request.numbers(1));
  copy.from_memory = static_cast<uint32_t>(request.numbers(2));
  copy.from = reinterpret_cast<const void*>(request.numbers(3));
  copy.size = request.numbers(4);
  if (request.has_data()) {
    const auto bytes = shared_bytes(request.data().shared(), copy.size);
    if (!bytes.ok()) return fail(out, bytes.status());
    if (copy.to_memory == 0) copy.to = bytes->data();
    if (copy.from_memory == 0) copy.from = bytes->data();
  }
  call_slot(site("copy"), out, devices_.copy, device_of(request.opened()).handle,
            static_cast<const eph_copy*>(&copy), uint64_t{sizeof(copy)}, uint64_t{1});
}

}  // namespace ephost::worker
