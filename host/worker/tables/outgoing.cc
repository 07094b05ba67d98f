#include "host/worker/tables/outgoing.h"

#include <algorithm>
#include <utility>

namespace ephost::worker {

std::optional<SharedPlace> Outgoing::place(std::span<const std::byte> bytes, SharedAccess access) {
  std::optional<SharedPlace> place = SharedRegions::find(bytes);
  if (!place) return std::nullopt;
  if (access == SharedAccess::kReadWrite && place->region->access != access) return std::nullopt;
  if (!refer(place->region)) return std::nullopt;
  return place;
}

bool Outgoing::refer(const SharedRegionPtr& region) {
  if (!known_.needs(*region)) return true;
  const auto is_same = [&](const SharedRegionPtr& other) { return other->id == region->id; };
  if (std::ranges::any_of(fresh_, is_same) || std::ranges::any_of(sent_, is_same)) return true;
  if (fresh_.size() + 1 >= kMaxDescriptors) return false;  // one is left for what is attached
  fresh_.push_back(region);
  return true;
}

bool Outgoing::refer(std::span<const std::byte> bytes, wire::Shared& out) {
  const std::optional<SharedPlace> found = place(bytes, SharedAccess::kRead);
  if (!found) return false;
  out.set_region(found->region->id);
  out.set_offset(found->offset);
  return true;
}

template <class T>
Result<Message> Outgoing::finish_as(T& message) {
  Message finished;
  finished.descriptors = std::exchange(attached_, {});
  for (SharedRegionPtr& region : fresh_) {
    EPHOST_ASSIGN_OR_RETURN(FileDescriptor descriptor, duplicate(region->descriptor));
    wire::NewRegion& added = *message.add_regions();
    added.set_id(region->id);
    added.set_offset(region->offset);
    added.set_size(region->bytes.size());
    added.set_is_writable(region->access == SharedAccess::kReadWrite);
    added.set_descriptor(static_cast<uint32_t>(finished.descriptors.size()));
    finished.descriptors.push_back(std::move(descriptor));
    sent_.push_back(std::move(region));
  }
  fresh_.clear();
  finished.bytes = message.SerializeAsString();
  return finished;
}

Result<Message> Outgoing::finish(wire::Request& request) {
  for (const uint64_t id : known_.take_removed()) request.add_removed_regions(id);
  return finish_as(request);
}

Result<Message> Outgoing::finish(wire::Answer& answer) { return finish_as(answer); }

void Outgoing::confirm() {
  for (const SharedRegionPtr& region : sent_) known_.confirm(region);
  sent_.clear();
}

}  // namespace ephost::worker
