// The host's side of one call of `compute`: where the worker finds the arguments, and what it asks
// of the run meanwhile.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "host/base/memory/shared_memory.h"
#include "host/worker/process/host_channel.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/plain_run.h"
#include "host/worker/tables/outgoing.h"
#include "host/worker/tables/run_allowance.h"

namespace ephost::worker {

// What the host knows of a computation of a worker.
struct RunFacts {
  uint64_t computation = 0;
  uint64_t workspace_bytes = 0;
  uint64_t alignment = 64;
  bool workspace_is_remote = false;
  // (input, output) whose bytes are equal by definition where they share memory.
  std::vector<std::pair<uint32_t, uint32_t>> aliases = {};
};

// Used by one thread. Values that lie in no region, and those that the worker writes, go through
// the staging memory of the channel.
class RemoteRun {
 public:
  // `allowance`: bytes that the worker may make the host take in the call; 0: as RunAllowance says.
  RemoteRun(eph_run& run, const RunFacts& facts, void* state, HostChannel& channel,
            Outgoing& outgoing, uint64_t allowance)
      : run_(run),
        facts_(facts),
        state_(state),
        channel_(channel),
        outgoing_(outgoing),
        allowance_(allowance) {}

  // Finds places for all arguments, and copies the inputs that are staged.
  Status prepare();
  // Whether the request fits into the hot area and needs nothing else.
  [[nodiscard]] bool is_hot() const;
  // The request as plain data, of plain_size() bytes.
  [[nodiscard]] size_t plain_size() const;
  void write_plain(std::span<std::byte> out) const;
  void write_request(wire::Request& out);

  // Answers a callback that is about the run. A failure breaks the protocol.
  Status answer(const wire::Callback& callback, wire::Answer& out);

  // Takes over what the worker has left in staging memory, once it has answered that all is well.
  void finish();

 private:
  // Numbers in the memory of the host.
  struct Range {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    size_t value = 0;  // of values_
    bool is_written = false;
    bool is_staged = false;
    size_t offset = 0;  // in the staging memory
  };
  struct CopyBack {
    const std::byte* from = nullptr;
    eph_value* to = nullptr;
    std::byte* data = nullptr;  // of `to`, and its size, when the worker got it
    size_t size = 0;
  };
  // Staging memory of an output that was allocated within the call.
  struct Late {
    SharedPlace place;
    uint64_t size = 0;
  };

  PlainValue frame(const eph_value& value, std::vector<int64_t>& extents) const;
  void add_input(const eph_value* value, uint32_t index);
  void add_output(eph_value* value, uint32_t index);
  void add_structured(const eph_value& value, wire::Value& out);
  bool shares_by_definition(uint32_t output, const eph_value& value) const;
  Status place_ranges();
  bool place_in_regions(std::span<const Range> group);
  size_t add_staged(std::span<Range> group, size_t used) const;
  Status stage(size_t size);
  [[nodiscard]] uint64_t staging_alignment() const;
  Status reserve_late(uint32_t output, uint64_t size);
  Status place_late(uint32_t output, wire::Answer& out);

  // remote_run_calls.cc. A failure breaks the protocol; what the run says is the code.
  Status take_contents(const wire::Callback& callback);
  Status take_memory(const wire::Callback& callback, std::span<const int64_t> shape);
  Result<const eph_value*> value_of(uint32_t number) const;
  Result<const eph_value*> value_or_none(uint32_t number) const;
  // Gives a number to a value that was made in the call; `tensor`: what the worker may write of it.
  void number(const eph_value* value, eph_value* tensor, wire::Answer& out);
  Result<int32_t> call(const wire::Callback& callback, wire::Answer& out, eph_error& error);
  int32_t allocate_output(const wire::Callback& callback, std::span<const int64_t> shape,
                          wire::Answer& out, eph_error& error);
  int32_t make_tensor(const wire::Callback& callback, std::span<const int64_t> shape,
                      wire::Answer& out, eph_error& error);
  Result<int32_t> make_sequence(const wire::Callback& callback, wire::Answer& out,
                                eph_error& error);
  Result<int32_t> make_map(const wire::Callback& callback, wire::Answer& out, eph_error& error);
  Result<int32_t> set_output(const wire::Callback& callback, eph_error& error);

  eph_run& run_;
  const RunFacts& facts_;
  void* const state_;
  HostChannel& channel_;
  Outgoing& outgoing_;
  RunAllowance allowance_;
  std::vector<PlainValue> values_;
  std::vector<int64_t> extents_;
  std::vector<Range> ranges_;
  std::vector<CopyBack> copies_;
  std::vector<Late> late_;  // by output
  std::vector<wire::Value> structured_;
  std::vector<const eph_value*> numbered_;  // by number - 1
  std::vector<eph_value*> made_;            // likewise; null for what was not made as a tensor
};

}  // namespace ephost::worker
