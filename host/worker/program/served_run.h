// The arguments of `compute` as the computation sees them in this process.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/base/hash.h"
#include "host/worker/program/call_state.h"
#include "host/worker/protocol/plain_run.h"

namespace ephost::worker {

// Memory of a thread that serves calls, kept from call to call.
class RunMemory {
 public:
  // Aligned to `alignment`; valid until the next call of this function for `workspace`.
  [[nodiscard]] void* workspace(uint64_t size, uint64_t alignment);
  // Valid until `reset`. Null if memory runs out.
  [[nodiscard]] void* scratch(uint64_t size) noexcept;
  void reset() noexcept { next_ = 0; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  struct Block {
    std::unique_ptr<void, Free> memory;
    uint64_t size = 0;
    uint64_t alignment = 0;
  };
  static void reserve(Block& block, uint64_t size, uint64_t alignment);

  Block workspace_;
  std::vector<Block> scratch_;
  size_t next_ = 0;
};

// One call. Used by the thread that serves it; is_cancelled by any.
class ServedRun : public eph_run {
 public:
  ServedRun(WorkerChannel& channel, RunMemory& memory);
  ServedRun(const ServedRun&) = delete;
  ServedRun& operator=(const ServedRun&) = delete;

  // `plain` stays as it is during the call; so does `call`, which is null for a request in the hot
  // area, and brings values that are more than tensors of numbers.
  Status bind(std::span<const std::byte> plain, CallState* call);
  [[nodiscard]] const PlainRun& plain() const { return plain_; }

  // Sends what was written to values that were made in the call.
  Status finish();

 private:
  struct Made {
    uint32_t number = 0;
    eph_value* tensor = nullptr;  // null: not a tensor of numbers
    Hash128 sent;
    bool was_sent = false;
  };

  static ServedRun& self(const eph_run* handle) {
    return const_cast<ServedRun&>(static_cast<const ServedRun&>(*handle));
  }
  static int32_t allocate_output(eph_run*, uint32_t, int32_t, const int64_t*, uint32_t,
                                 eph_error*) noexcept;
  static int32_t set_string(eph_run*, uint32_t, uint64_t, eph_string, eph_error*) noexcept;
  static void* allocate_scratch(eph_run*, uint64_t) noexcept;
  static int32_t is_cancelled(const eph_run*) noexcept;
  static int32_t allocate_in(eph_run*, uint32_t, uint64_t, void**, eph_error*) noexcept;
  static int32_t make_tensor(eph_run*, int32_t, const int64_t*, uint32_t, eph_value**,
                             eph_error*) noexcept;
  static int32_t set_element(eph_run*, eph_value*, uint64_t, eph_string, eph_error*) noexcept;
  static int32_t make_sequence(eph_run*, const eph_value*, uint64_t, uint64_t,
                               const eph_value* const*, uint64_t, const eph_value**,
                               eph_error*) noexcept;
  static int32_t make_map(eph_run*, const eph_value*, const eph_value*, const eph_value**,
                          eph_error*) noexcept;
  static int32_t set_output(eph_run*, uint32_t, const eph_value*, eph_error*) noexcept;
  static const eph_run_api kApi;

  Result<eph_value> place(const PlainValue& plain, const int64_t* extents, CallState* call);
  Status number_parts(const wire::Value& value, const eph_value& read);
  // The number of a value that the plugin passes; INVALID_ARGUMENT for one that it may not.
  Result<uint32_t> number_of(const eph_value* value, std::string_view slot) const;
  // Adds what was written to a value since the host got it last. What is more than a piece goes
  // ahead, in callbacks of its own.
  Status add_content(const eph_value* value, wire::Callback& callback);
  // Sends the contents that were added so far.
  Status send_contents(wire::Callback& callback);
  const eph_value* keep(const eph_value& value, uint32_t number);
  // The host's answer; its failure is the Status.
  Result<wire::Answer> ask_host(const wire::Callback& callback);

  WorkerChannel& channel_;
  RunMemory& memory_;
  PlainRun plain_;
  Storage storage_;
  std::vector<eph_value> values_;
  std::vector<eph_value*> pointers_;
  std::map<const eph_value*, uint32_t> numbers_;
  std::map<const eph_value*, Made> made_;
  size_t content_bytes_ = 0;  // of the callback that is being made
};

}  // namespace ephost::worker
