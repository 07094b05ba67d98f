// The functions of device memory.
#include <cstring>
#include <span>

#include "host/plugin/adopt.h"
#include "host/worker/tables/remote_provider.h"

namespace ephost::worker {

using Memory = eph_device_memory_api;

template <>
struct Remote<&Memory::get_memories> {
  static int32_t call(eph_provider* handle, const eph_memory** out_memories, uint64_t* out_count,
                      eph_error* error) noexcept {
    *out_memories = nullptr;
    *out_count = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(wire::MEMORY_GET_MEMORIES));
      const wire::Answer& kept = provider.keep(std::move(answer));
      *out_memories =
          read_all<eph_memory>(kept.memories(), provider.storage(), [](const wire::Memory& memory) {
            return eph_memory{text_of(memory.name()), memory.alignment()};
          });
      *out_count = static_cast<uint64_t>(kept.memories_size());
      return take_code(kept, error);
    });
  }
};

template <>
struct Remote<&Memory::describe> {
  static int32_t call(eph_provider* handle, eph_computation* of, eph_computation_memory* out,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      RemoteComputation& computation = RemoteComputation::self(of);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer,
                              provider.call(wire::MEMORY_DESCRIBE, [&](wire::Request& request) {
                                request.set_computation(computation.facts.computation);
                              }));
      computation.memory = std::move(*answer.mutable_memory());
      computation.facts.workspace_is_remote = computation.memory.memory() != 0;
      const int32_t filled = plugin::fill(read(computation.memory, computation.storage), out);
      return filled == EPH_OK ? take_code(answer, error) : filled;
    });
  }
};

template <>
struct Remote<&Memory::allocate> {
  static int32_t call(eph_provider* handle, uint32_t memory, uint64_t size, void** out_data,
                      eph_error* error) noexcept {
    *out_data = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(wire::MEMORY_ALLOCATE, [&](wire::Request& request) {
                                request.set_memory(memory);
                                request.set_size(size);
                              }));
      *out_data = reinterpret_cast<void*>(answer.handle());
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Memory::release> {
  static void call(eph_provider* handle, uint32_t memory, void* data) noexcept {
    RemoteProvider& provider = RemoteProvider::self(handle);
    provider.call_release(wire::MEMORY_RELEASE, [&](wire::Request& request) {
      request.set_memory(memory);
      request.set_address(reinterpret_cast<uint64_t>(data));
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

}  // namespace

template <>
struct Remote<&Memory::copy> {
  static int32_t call(eph_provider* handle, uint32_t to_memory, void* to, uint32_t from_memory,
                      const void* from, uint64_t size, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(const ChannelLease channel, provider.worker().process().channel());
      wire::Request request;
      request.set_call(wire::MEMORY_COPY);
      request.set_memory(to_memory);
      request.set_from_memory(from_memory);
      request.set_size(size);
      Outgoing outgoing(provider.worker().regions());
      if (to_memory != 0) request.set_address(reinterpret_cast<uint64_t>(to));
      if (from_memory != 0) request.set_from_address(reinterpret_cast<uint64_t>(from));
      std::byte* staged = nullptr;
      if (to_memory == 0 || from_memory == 0) {
        const void* const host = to_memory == 0 ? to : from;
        EPHOST_ASSIGN_OR_RETURN(
            staged, place_copied({static_cast<const std::byte*>(host), static_cast<size_t>(size)},
                                 to_memory == 0, *channel, outgoing,
                                 *request.mutable_data()->mutable_shared()));
      }
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call_by(*channel, request, outgoing));
      if (to_memory == 0 && answer.code() == EPH_OK) {
        std::memcpy(to, staged, static_cast<size_t>(size));
      }
      return take_code(answer, error);
    });
  }
};

void fill_remote_table(uint32_t slots, eph_device_memory_api& out) { fill_slots(slots, out); }

}  // namespace ephost::worker
