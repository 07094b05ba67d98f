// What a message of the host refers to: regions of shared memory, whose descriptors go along with
// the first message that needs them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "host/base/shared_memory.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/transport/message.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {

// Of one call: its request, and the answers to callbacks in it. Used by one thread.
class Outgoing {
 public:
  explicit Outgoing(KnownRegions& known) : known_(known) {}
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  // The place of `bytes` if they lie in a region that the worker may use that way.
  [[nodiscard]] std::optional<SharedPlace> place(std::span<const std::byte> bytes,
                                                 SharedAccess access);
  // The worker gets the region with the next message, unless it has it already. False where the
  // message has too many descriptors.
  [[nodiscard]] bool refer(const SharedRegionPtr& region);
  // Refers to `bytes`, if they lie in a region.
  [[nodiscard]] bool refer(std::span<const std::byte> bytes, wire::Shared& out);
  // Whether the next message has to bring regions.
  [[nodiscard]] bool has_news() const { return !fresh_.empty(); }

  // The message with the regions that it needs. FAIL if no descriptor is left.
  [[nodiscard]] Result<Message> finish(wire::Request& request);
  [[nodiscard]] Result<Message> finish(wire::Answer& answer);
  // The position of a descriptor that goes along with the next message.
  void attach(FileDescriptor descriptor) { attached_.push_back(std::move(descriptor)); }

  // The regions that went along with messages, until they are confirmed.
  [[nodiscard]] const std::vector<SharedRegionPtr>& sent() const { return sent_; }
  // The worker has got what was sent.
  void confirm();

 private:
  template <class T>
  Result<Message> finish_as(T& message);

  KnownRegions& known_;
  std::vector<SharedRegionPtr> fresh_;  // of the next message
  std::vector<SharedRegionPtr> sent_;
  std::vector<FileDescriptor> attached_;
};

}  // namespace ephost::worker
