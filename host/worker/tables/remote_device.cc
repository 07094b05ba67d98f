// The functions of devices that do more than their arguments say.
#include "host/worker/tables/remote_device.h"

#include <cstring>
#include <span>

#include "host/worker/tables/remote_call.h"

namespace ephost::worker {

using Devices = eph_device_api;

void write_offer(const HostTables& host, wire::Create& out) {
  out.set_has_progress(host.progress != nullptr);
  out.set_has_constants(host.constants != nullptr);
  if (host.threads == nullptr) return;
  out.set_threads(host.threads->get_thread_count(host.host));
  out.set_library_threads(host.threads->get_library_thread_count(host.host));
}

template <>
struct Remote<&Devices::open> {
  static int32_t call(const eph_device_api* self, const eph_host* host, const eph_device* device,
                      eph_device_handle** out_device, eph_error* error) noexcept {
    *out_device = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      Workers& workers = static_cast<const RemoteDevices&>(*self).workers;
      EPHOST_ASSIGN_OR_RETURN(auto worker, workers.for_devices());
      auto opened = std::make_unique<RemoteDevice>(worker, host);
      wire::Request request;
      request.set_call(kCall<&Devices::open>);
      write(*device, *request.mutable_create()->add_devices());
      write_offer(opened->host(), *request.mutable_create());
      Outgoing outgoing(worker->regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, opened->call(request, outgoing));
      if (answer.numbers_size() != 0 && answer.numbers(0) != 0) {
        opened->set_opened(answer.numbers(0));
        *out_device = opened.release()->handle();
      }
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Devices::close> {
  static void call(eph_device_handle* handle) noexcept {
    if (handle == nullptr) return;
    const std::unique_ptr<RemoteDevice> own(&RemoteDevice::self(handle));
    // Whatever becomes of the worker, the device is closed.
    answer_call(nullptr, [&]() -> Result<int32_t> {
      wire::Request request;
      request.set_call(kCall<&Devices::close>);
      Outgoing outgoing(own->worker()->regions());
      EPHOST_RETURN_IF_ERROR(own->call(request, outgoing).status());
      return EPH_OK;
    });
  }
};

template <>
struct Remote<&Devices::get_memories> {
  static int32_t call(eph_device_handle* handle, const eph_memory_info** out_memories,
                      uint64_t* out_stride, uint64_t* out_count, eph_error* error) noexcept {
    *out_memories = nullptr;
    *out_stride = sizeof(eph_memory_info);
    *out_count = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteDevice& device = RemoteDevice::self(handle);
      wire::Request request;
      request.set_call(kCall<&Devices::get_memories>);
      Outgoing outgoing(device.worker()->regions());
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, device.call(request, outgoing));
      const int32_t code = take_code(answer, error);
      *out_count = static_cast<uint64_t>(answer.memories_size());
      *out_memories = device.keep_memories(std::move(answer));
      return code;
    });
  }
};

namespace {

// The host's side of a copy: where it lies, if the worker reads it in a region, or else in staging
// memory, which is returned.
Result<std::byte*> place_copied(std::span<const std::byte> bytes, bool is_written,
                                HostChannel& channel, Outgoing& outgoing, wire::Shared& out) {
  if (!is_written && outgoing.refer(bytes, out)) return nullptr;
  channel.staging().reset();
  EPHOST_ASSIGN_OR_RETURN(const SharedPlace place, channel.staging().take(bytes.size()));
  (void)outgoing.refer(place.region);  // the message has no other
  out.set_region(place.region->id);
  out.set_offset(place.offset);
  std::byte* const staged = place.region->bytes.data() + place.offset;
  if (!is_written) std::memcpy(staged, bytes.data(), bytes.size());
  return staged;
}

Result<int32_t> copy_one(RemoteDevice& device, const eph_copy& copy, eph_error* error) {
  EPHOST_ASSIGN_OR_RETURN(const ChannelLease channel, device.worker()->process().channel());
  wire::Request request;
  request.set_call(kCall<&Devices::copy>);
  Outgoing outgoing(device.worker()->regions());
  // An address in the host is none in the worker.
  request.add_numbers(copy.to_memory);
  request.add_numbers(copy.to_memory == 0 ? 0 : reinterpret_cast<uint64_t>(copy.to));
  request.add_numbers(copy.from_memory);
  request.add_numbers(copy.from_memory == 0 ? 0 : reinterpret_cast<uint64_t>(copy.from));
  request.add_numbers(copy.size);
  const auto size = static_cast<size_t>(copy.size);
  std::byte* staged = nullptr;
  if (copy.to_memory == 0 || copy.from_memory == 0) {
    const void* const host = copy.to_memory == 0 ? copy.to : copy.from;
    EPHOST_ASSIGN_OR_RETURN(
        staged, place_copied({static_cast<const std::byte*>(host), size}, copy.to_memory == 0,
                             *channel, outgoing, *request.mutable_data()->mutable_shared()));
  }
  EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, device.call_by(*channel, request, outgoing));
  if (copy.to_memory == 0 && answer.code() == EPH_OK) std::memcpy(copy.to, staged, size);
  return take_code(answer, error);
}

}  // namespace

template <>
struct Remote<&Devices::copy> {
  static int32_t call(eph_device_handle* handle, const eph_copy* copies, uint64_t stride,
                      uint64_t count, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      const auto* at = reinterpret_cast<const std::byte*>(copies);
      for (uint64_t i = 0; i < count; ++i, at += stride) {
        EPHOST_ASSIGN_OR_RETURN(
            const int32_t code,
            copy_one(RemoteDevice::self(handle), *reinterpret_cast<const eph_copy*>(at), error));
        if (code != EPH_OK) return code;
      }
      return EPH_OK;
    });
  }
};

void fill_remote_table(uint32_t slots, eph_device_api& out) {
  fill_slots(slots, out);
  // A worker ends even if the plugin knows of no lost devices.
  out.get_status = &Remote<&Devices::get_status>::call;
}

}  // namespace ephost::worker
