// The references of a message of the host: regions of shared memory, whose descriptors go along
// with the first message that needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/memory/shared_memory.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/transport/message.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {

// The messages of one call: its request, and the answers to callbacks in it. Used by one thread.
// Keeps no region alive, however many a worker makes the host send within the call.
class Outgoing {
 public:
  explicit Outgoing(KnownRegions& known) : known_(known) {}
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  ~Outgoing();

  // The place of `bytes` if they lie in a region that the worker may read, and not write.
  [[nodiscard]] std::optional<SharedPlace> place(std::span<const std::byte> bytes);
  // The worker gets the region with the next message, unless it has it already. False where the
  // message has too many descriptors.
  [[nodiscard]] bool refer(const SharedRegionPtr& region);
  // Refers to `bytes`, if they lie in a region.
  [[nodiscard]] bool refer(std::span<const std::byte> bytes, wire::Shared& out);
  // Whether the next message has to bring regions.
  [[nodiscard]] bool has_news() const { return !fresh_.empty(); }

  // The message with the regions that it needs, and with what is attached. FAIL if no descriptor is
  // left, INVALID_ARGUMENT if the message is too large; then the next message has nothing of it.
  [[nodiscard]] Result<Message> finish(wire::Request& request);
  [[nodiscard]] Result<Message> finish(wire::Answer& answer);
  // The position of a descriptor that goes along with the next message.
  void attach(FileDescriptor descriptor) { attached_.push_back(std::move(descriptor)); }

  // A region that the worker has got, or will have got with the messages of this call; or null.
  [[nodiscard]] SharedRegionPtr find(uint64_t id) const;
  // The worker has got what was sent. Without that, it is told again of what was removed.
  void confirm();

 private:
  struct Sent {
    uint64_t id = 0;
    std::weak_ptr<const SharedRegion> region;
  };

  template <class T>
  Result<Message> finish_as(T& message, std::string_view what);
  [[nodiscard]] bool was_sent(uint64_t id) const;

  KnownRegions& known_;
  std::vector<SharedRegionPtr> fresh_;  // of the next message
  std::vector<Sent> sent_;              // until they are confirmed
  std::vector<uint64_t> removed_;       // likewise
  std::vector<FileDescriptor> attached_;
};

}  // namespace ephost::worker
