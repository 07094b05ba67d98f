#include "host/worker/tables/outgoing.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "host/worker/protocol/serialized.h"

namespace ephost::worker {

Outgoing::~Outgoing() {
  if (removed_.empty()) return;
  try {
    known_.give_back(removed_);
  } catch (const std::exception&) {  // the worker keeps them for as long as it lives
  }
}

std::optional<SharedPlace> Outgoing::place(std::span<const std::byte> bytes) {
  std::optional<SharedPlace> place = SharedRegions::find(bytes);
  if (!place || place->region->access != SharedAccess::kRead) return std::nullopt;
  if (!refer(place->region)) return std::nullopt;
  return place;
}

bool Outgoing::refer(const SharedRegionPtr& region) {
  if (!known_.needs(*region)) return true;
  const auto is_same = [&](const SharedRegionPtr& other) { return other->id == region->id; };
  if (std::ranges::any_of(fresh_, is_same) || was_sent(region->id)) return true;
  if (fresh_.size() + 1 >= kMaxDescriptors) return false;  // one is left for what is attached
  fresh_.push_back(region);
  return true;
}

bool Outgoing::refer(std::span<const std::byte> bytes, wire::Shared& out) {
  const std::optional<SharedPlace> found = place(bytes);
  if (!found) return false;
  out.set_region(found->region->id);
  out.set_offset(found->offset);
  return true;
}

bool Outgoing::was_sent(uint64_t id) const {
  return std::ranges::any_of(sent_, [&](const Sent& sent) { return sent.id == id; });
}

SharedRegionPtr Outgoing::find(uint64_t id) const {
  const auto sent = std::ranges::find(sent_, id, &Sent::id);
  return sent != sent_.end() ? sent->region.lock() : known_.find(id);
}

template <class T>
Result<Message> Outgoing::finish_as(T& message, std::string_view what) {
  Message finished;
  finished.descriptors = std::exchange(attached_, {});
  const std::vector<SharedRegionPtr> fresh = std::exchange(fresh_, {});
  for (const SharedRegionPtr& region : fresh) {
    EPHOST_ASSIGN_OR_RETURN(FileDescriptor descriptor, duplicate(region->descriptor));
    wire::NewRegion& added = *message.add_regions();
    added.set_id(region->id);
    added.set_offset(region->offset);
    added.set_size(region->bytes.size());
    added.set_is_writable(region->access == SharedAccess::kReadWrite);
    added.set_descriptor(static_cast<uint32_t>(finished.descriptors.size()));
    finished.descriptors.push_back(std::move(descriptor));
  }
  EPHOST_ASSIGN_OR_RETURN(finished.bytes, serialized(message, what, kMaxMessageBytes));
  for (const SharedRegionPtr& region : fresh) sent_.push_back({region->id, region});
  return finished;
}

Result<Message> Outgoing::finish(wire::Request& request) {
  removed_ = known_.take_removed();
  for (const uint64_t id : removed_) request.add_removed_regions(id);
  return finish_as(request, "a request");
}

Result<Message> Outgoing::finish(wire::Answer& answer) {
  return finish_as(answer, "the answer to a callback");
}

void Outgoing::confirm() {
  for (Sent& sent : sent_) known_.confirm(sent.id, std::move(sent.region));
  sent_.clear();
  removed_.clear();
}

}  // namespace ephost::worker
