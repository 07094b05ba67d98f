// One call of the host while it lasts, and what has to stay after it: constants that computations
// read. Everything here trusts the host.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "host/base/memory/shared_memory.h"
#include "host/worker/protocol/arena_message.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/plain_graph.h"
#include "host/worker/protocol/storage.h"
#include "host/worker/transport/regions.h"
#include "host/worker/transport/worker_channel.h"

namespace ephost::worker {

// The memory of the host that this process has mapped.
[[nodiscard]] MappedRegions& mapped_regions();

// Asks the host, by the channel of a call that lasts, and maps the regions that the answer brings.
// Safe from any thread. A failure is that of the channel. `sealed`, if not null, is set to the
// memory that came with the answer.
[[nodiscard]] Result<wire::Answer> ask(WorkerChannel& channel, const wire::Callback& callback,
                                       SealedMapping* sealed = nullptr);
// Bytes of a region that the host has sent.
[[nodiscard]] Result<std::span<std::byte>> shared_bytes(const wire::Shared& place, uint64_t size);
Status map_regions(const google::protobuf::RepeatedPtrField<wire::NewRegion>& regions,
                   const Message& message);

// A value of a graph, as the host numbers both.
struct GraphValue {
  uint32_t graph = 0;
  uint32_t index = 0;
};

// What a computation keeps of the call that made it. Safe from any thread.
class CallState {
 public:
  explicit CallState(WorkerChannel& channel) : channel_(channel) {}
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;

  [[nodiscard]] WorkerChannel& channel() { return channel_; }
  [[nodiscard]] const wire::Request& request() const { return *request_; }
  // The descriptions of the request's graphs.
  [[nodiscard]] const char* plain() const {
    return plain_.bytes().empty() ? request_->plain().data()
                                  : reinterpret_cast<const char*>(plain_.bytes().data());
  }
  // Before anything else: takes what the host sent. FAIL for what cannot be read.
  Status receive(const Message& message);
  // At the end of the call, when the plugin has no graph any more.
  void release_graphs() { plain_ = {}; }

  // What the host says of a graph; it stays, as records point into it.
  struct Asked {
    const wire::Answer* answer = nullptr;
    const char* plain = nullptr;
  };
  Result<Asked> ask_and_keep(const wire::Callback& callback);
  // The data of a constant, or the bytes of a graph, that came in sealed memory.
  Result<std::span<const std::byte>> ask_for_bytes(const wire::Callback& callback);

  // A value as the plugin sees it. Data that the message does not have is asked for as that of
  // `constant`; FAIL if that is null.
  Result<eph_value> read(const wire::Value& value, const GraphValue* constant = nullptr);

  Result<eph_value> read(const PlainConstant& constant, const int64_t* shape);

  // For records of this call, by the thread that serves it.
  Storage& storage() { return storage_; }

 private:
  Result<void*> data_of(const wire::Value& value, const GraphValue* constant);

  WorkerChannel& channel_;
  const ArenaMessage<wire::Request> request_;
  SealedMapping plain_;
  std::recursive_mutex mutex_;  // guards what follows
  std::deque<wire::Answer> answers_;
  std::deque<SealedMapping> sealed_;
  Storage storage_;
};

// An address for what has no bytes.
[[nodiscard]] void* no_bytes();

// Where constants lie that came in shared memory, by their addresses in this process: what
// "ephost.constants" may release.
void note_constant(std::span<const std::byte> data, uint64_t region, uint64_t offset);
// Unmaps what the host has released, and forgets the constants in it.
void remove_region(uint64_t id);
// The place of `data`, if `size` bytes from there are those of constants in one region.
[[nodiscard]] bool find_constant(const void* data, uint64_t size, wire::Shared& place);

}  // namespace ephost::worker
