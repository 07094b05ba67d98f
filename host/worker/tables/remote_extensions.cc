// The tables of optional interfaces, and those of their functions that do more than their arguments
// say.
#include <cstring>
#include <span>

#include "host/worker/tables/remote_call.h"

namespace ephost::worker {

using Memory = eph_device_memory_api;

template <>
struct Remote<&Memory::describe> {
  static int32_t call(eph_provider* handle, eph_computation* of, eph_computation_memory* out,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      RemoteComputation& computation = RemoteComputation::self(of);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer,
                              provider.call(kCall<&Memory::describe>, [&](wire::Request& request) {
                                request.set_computation(computation.facts.computation);
                              }));
      computation.memory = std::move(*answer.mutable_memory());
      computation.facts.workspace_is_remote = computation.memory.memory() != 0;
      const int32_t filled = plugin::fill(read(computation.memory, computation.storage), out);
      return filled == EPH_OK ? take_code(answer, error) : filled;
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
      request.set_call(kCall<&Memory::copy>);
      Outgoing outgoing(provider.worker().regions());
      // An address in the host is none in the worker.
      request.add_numbers(to_memory);
      request.add_numbers(to_memory == 0 ? 0 : reinterpret_cast<uint64_t>(to));
      request.add_numbers(from_memory);
      request.add_numbers(from_memory == 0 ? 0 : reinterpret_cast<uint64_t>(from));
      request.add_numbers(size);
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

void RemoteProvider::adopt(const wire::Provider& made) {
  handle_ = made.handle();
  for (const wire::Extension& extension : made.extensions()) {
    plugin::ProviderExtensions::find(extension.id(), [&]<class Table>() {
      fill_slots(extension.slots(), std::get<std::optional<Table>>(extensions_).emplace());
    });
  }
}

const void* RemoteProvider::extension(std::string_view id) const {
  const void* found = nullptr;
  plugin::ProviderExtensions::find(id, [&]<class Table>() {
    const auto& table = std::get<std::optional<Table>>(extensions_);
    if (table) found = &*table;
  });
  return found;
}

}  // namespace ephost::worker
