// A kernel or a compiled partition of a plugin: the handle, its adopted table, and what it
// declared. Movable, and shared on request; keeps its provider, and so the library, alive.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/bridge/call_limit.h"
#include "host/bridge/extensions/device.h"
#include "host/plan/allocation_plan.h"

namespace ephost::bridge {

class Provider;

struct SlotMemory {
  uint32_t slot = 0;
  uint32_t memory = kHostMemory;
};

// In which memories a computation wants its values, by its provider's numbers.
struct ComputationMemory {
  uint32_t memory = kHostMemory;  // of the workspace, and of inputs and outputs not listed below
  std::vector<SlotMemory> inputs;
  std::vector<SlotMemory> outputs;
  std::vector<uint32_t> unread_inputs;  // where constants may lie anywhere
  std::vector<uint32_t> accepted;       // memories that serve as well for slots not listed
};

// The state of one concurrent run of a computation; released before the computation is destroyed.
class ComputationState {
 public:
  ComputationState() = default;
  // `provider`, for messages, and the table live as long as the computation.
  ComputationState(std::string_view provider, const eph_computation_api* api,
                   eph_computation* computation, void* state)
      : provider_(provider), api_(api), computation_(computation), state_(state) {}
  ComputationState(ComputationState&& other) noexcept;
  ComputationState& operator=(ComputationState&& other) noexcept;
  ~ComputationState();

  [[nodiscard]] void* get() const { return state_; }

 private:
  std::string_view provider_;
  const eph_computation_api* api_ = nullptr;
  eph_computation* computation_ = nullptr;
  void* state_ = nullptr;
};

class Computation {
 public:
  // Takes over `handle`, which the provider's `slot` made, also on failure: then the handle is
  // destroyed, unless its table is broken.
  static Result<Computation> adopt(std::shared_ptr<const Provider> provider,
                                   eph_computation* handle, std::string_view slot);

  Computation(Computation&&) noexcept = default;
  Computation& operator=(Computation&&) noexcept = default;

  // Another reference to the same computation, which lives as long as any of them.
  [[nodiscard]] Computation share() const { return Computation(object_); }

  [[nodiscard]] eph_computation* handle() const { return object_->handle; }
  // Keeps `what` until the computation is destroyed. To be called before it is shared.
  void keep(std::shared_ptr<const void> what) { object_->kept = std::move(what); }

  // For the executor: one indirect call for each step. Its type is not noexcept, so that exceptions
  // of the plugin can be caught.
  using Compute = int32_t (*)(eph_computation* computation, void* state, eph_run* run,
                              eph_error* error);
  [[nodiscard]] Compute compute() const { return object_->api.compute; }
  [[nodiscard]] const Provider& provider() const { return *object_->provider; }

  // An empty state if the computation needs none. May be called concurrently.
  [[nodiscard]] Result<ComputationState> create_state() const;

  // The limit of its provider; null: no limit.
  [[nodiscard]] CallLimit* call_limit() const;
  // A power of two: at least 64, at most 2 MiB.
  [[nodiscard]] uint64_t host_alignment() const { return object_->host_alignment; }
  [[nodiscard]] uint64_t workspace_bytes() const { return object_->workspace_bytes; }
  // In which memories it wants its values.
  [[nodiscard]] const ComputationMemory& memory() const { return object_->memory; }
  // The device on whose streams it enqueues its work; null if its work is done when it returns.
  [[nodiscard]] const Device* enqueues_on() const { return object_->enqueues_on; }
  // Whether what it enqueues depends on addresses and shapes alone.
  [[nodiscard]] bool is_capturable() const { return object_->is_capturable; }
  // Pairs of an input and an output that always have the same memory.
  [[nodiscard]] std::span<const plan::SlotPair> must_share() const {
    return std::span(object_->pairs).subspan(object_->inplace_count, object_->must_share_count);
  }
  // What it declared for the planner, without memories; borrows from the computation.
  [[nodiscard]] plan::StepTraits traits() const;

 private:
  // Has a fixed address, because states refer to the adopted table.
  struct Object {
    std::shared_ptr<const Provider> provider;
    eph_computation_api api = {};
    eph_computation* handle = nullptr;
    uint64_t host_alignment = plan::kPartAlignment;
    uint64_t workspace_bytes = 0;
    std::vector<plan::SlotPair> pairs;  // may_inplace first, then must_share, then aliases
    std::vector<plan::SlotPart> parts;  // input_parts first, then output_parts
    size_t inplace_count = 0;
    size_t must_share_count = 0;
    size_t input_part_count = 0;
    ComputationMemory memory;
    const Device* enqueues_on = nullptr;  // of the provider
    bool is_capturable = false;
    std::shared_ptr<const void> kept;  // outlives `handle`

    ~Object();
  };

  explicit Computation(std::shared_ptr<Object> object) : object_(std::move(object)) {}
  static Status describe(Object& object);
  static void find_queue(Object& object);

  std::shared_ptr<Object> object_;
};

}  // namespace ephost::bridge
