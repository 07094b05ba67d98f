#include "host/bridge/computation.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <set>
#include <span>
#include <utility>

#include "host/base/format.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/provider.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than any operator has slots for; a computation that reports more is broken.
constexpr uint64_t kMaxSlotPairs = uint64_t{1} << 20;

plan::SlotPair copy(const eph_slot_pair& pair) { return {pair.input, pair.output}; }
plan::SlotPart copy(const eph_slot_part& part) { return {part.input, part.output, part.offset}; }

SlotMemory copy(const eph_slot_memory& slot) { return {slot.slot, slot.memory}; }

// Appends to `copied`.
template <class Copied, class Pair>
Status copy_pairs(const Pair* pairs, uint64_t count, const plugin::CallSite& site,
                  std::string_view array, std::vector<Copied>& copied) {
  EPHOST_ASSIGN_OR_RETURN(const auto list,
                          plugin::adopt_array(pairs, count, kMaxSlotPairs, site, array));
  for (const Pair& pair : list) copied.push_back(copy(pair));
  return Status::ok_status();
}

// More than the pages of any system have.
constexpr uint64_t kMaxHostAlignment = uint64_t{1} << 21;

Status check_alignment(uint64_t alignment, std::string_view provider) {
  const bool is_power = alignment == 0 || std::has_single_bit(alignment);
  if (is_power && alignment <= kMaxHostAlignment) return Status::ok_status();
  return Status(
      StatusCode::kEpFail,
      formatted("{} reports a host_alignment of {} for a computation; it has to be a power "
                "of two of at most {}; report this to the plugin's vendor",
                provider, alignment, kMaxHostAlignment));
}

// The outputs of the pairs. EP_FAIL unless all pairs are of inputs and outputs of their own.
Result<std::set<uint32_t>> outputs_of_pairs(std::span<const plan::SlotPair> pairs,
                                            std::string_view provider) {
  std::set<uint32_t> inputs;
  std::set<uint32_t> outputs;
  for (const auto& [input, output] : pairs) {
    if (inputs.insert(input).second && outputs.insert(output).second) continue;
    return Status(
        StatusCode::kEpFail,
        formatted("{} lists input {} and output {} in must_share, and one of them before; "
                  "report this to the plugin's vendor",
                  provider, input, output));
  }
  return outputs;
}

Status check_memories(const ComputationMemory& memory, const Provider& provider) {
  std::vector<uint32_t> named = memory.accepted;
  named.push_back(memory.memory);
  for (const auto* slots : {&memory.inputs, &memory.outputs}) {
    for (const SlotMemory& slot : *slots) named.push_back(slot.memory);
  }
  for (const uint32_t number : named) {
    if (number == kHostMemory) continue;
    if (number > provider.memories().size()) {
      return Status(
          StatusCode::kEpFail,
          formatted("{} puts values of a computation into memory {}, which does not exist; "
                    "report this to the plugin's vendor",
                    provider.name(), number));
    }
    if (provider.memories()[number - 1].info().is_staging) {
      return Status(StatusCode::kEpFail,
                    formatted("{} puts values of a computation into a memory for staging, which is "
                              "host memory, 0; report this to the plugin's vendor",
                              provider.name()));
    }
  }
  return Status::ok_status();
}

}  // namespace

ComputationState::ComputationState(ComputationState&& other) noexcept
    : provider_(other.provider_),
      api_(other.api_),
      computation_(other.computation_),
      state_(std::exchange(other.state_, nullptr)) {}

ComputationState& ComputationState::operator=(ComputationState&& other) noexcept {
  std::swap(provider_, other.provider_);
  std::swap(api_, other.api_);
  std::swap(computation_, other.computation_);
  std::swap(state_, other.state_);
  return *this;
}

ComputationState::~ComputationState() {
  if (state_ == nullptr) return;
  plugin::call_release({provider_, "release_state"}, api_->release_state, computation_, state_);
}

Computation::Object::~Object() {
  if (handle == nullptr || api.destroy == nullptr) return;
  plugin::call_release({provider->name(), "destroy"}, api.destroy, handle);
}

Result<Computation> Computation::adopt(std::shared_ptr<const Provider> provider,
                                       eph_computation* handle, std::string_view slot) {
  const plugin::CallSite site{provider->name(), slot};
  if (handle == nullptr) {
    return Status(StatusCode::kEpFail, provider->name() +
                                           " reported success and gave no computation; report this "
                                           "to the plugin's vendor");
  }
  auto object = std::make_shared<Object>();
  object->provider = std::move(provider);
  EPHOST_ASSIGN_OR_RETURN(object->api, plugin::adopt_computation(handle->api, site));
  object->handle = handle;
  EPHOST_RETURN_IF_ERROR(describe(*object));
  return Computation(std::move(object));
}

Status Computation::describe(Object& object) {
  if (object.api.describe == nullptr) return Status::ok_status();
  eph_computation_info info = {};
  info.struct_size = sizeof(info);
  const plugin::CallSite site{object.provider->name(), "describe"};
  EPHOST_RETURN_IF_ERROR(
      call_slot(site, "describing a computation", object.api.describe, object.handle, &info));
  EPHOST_ASSIGN_OR_RETURN(info, plugin::adopt<eph_computation_info>(&info, site));
  EPHOST_RETURN_IF_ERROR(check_alignment(info.host_alignment, object.provider->name()));
  object.host_alignment = std::max(info.host_alignment, plan::kPartAlignment);
  object.workspace_bytes = info.workspace_bytes;
  std::vector<plan::SlotPair> must_share;
  EPHOST_RETURN_IF_ERROR(
      copy_pairs(info.must_share, info.must_share_count, site, "must_share", must_share));
  EPHOST_ASSIGN_OR_RETURN(const std::set<uint32_t> shared,
                          outputs_of_pairs(must_share, object.provider->name()));
  // Without what would let such an output share memory in another way.
  const auto take = [&](const auto* entries, uint64_t count, std::string_view array, auto& list) {
    const size_t begin = list.size();
    Status status = copy_pairs(entries, count, site, array, list);
    const auto is_shared = [&](const auto& entry) { return shared.contains(entry.output); };
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(begin);
    list.erase(std::remove_if(first, list.end(), is_shared), list.end());
    return status;
  };
  EPHOST_RETURN_IF_ERROR(
      take(info.may_inplace, info.may_inplace_count, "may_inplace", object.pairs));
  object.inplace_count = object.pairs.size();
  object.must_share_count = must_share.size();
  object.pairs.insert(object.pairs.end(), must_share.begin(), must_share.end());
  EPHOST_RETURN_IF_ERROR(take(info.aliases, info.alias_count, "aliases", object.pairs));
  EPHOST_RETURN_IF_ERROR(
      take(info.input_parts, info.input_part_count, "input_parts", object.parts));
  object.input_part_count = object.parts.size();
  EPHOST_RETURN_IF_ERROR(
      take(info.output_parts, info.output_part_count, "output_parts", object.parts));
  if (object.provider->only_compiles()) return Status::ok_status();
  ComputationMemory& memory = object.memory;
  memory.memory = info.memory;
  EPHOST_RETURN_IF_ERROR(copy_pairs(info.input_memories, info.input_memory_count, site,
                                    "input_memories", memory.inputs));
  EPHOST_RETURN_IF_ERROR(copy_pairs(info.output_memories, info.output_memory_count, site,
                                    "output_memories", memory.outputs));
  EPHOST_ASSIGN_OR_RETURN(const auto unread,
                          plugin::adopt_array(info.unread_inputs, info.unread_input_count,
                                              kMaxSlotPairs, site, "unread_inputs"));
  memory.unread_inputs.assign(unread.begin(), unread.end());
  for (uint32_t number = 0; number < 64; ++number) {
    if ((info.accepts >> number & 1) != 0) memory.accepted.push_back(number);
  }
  EPHOST_RETURN_IF_ERROR(check_memories(memory, *object.provider));
  if ((info.flags & EPH_COMPUTATION_ENQUEUES) != 0) find_queue(object);
  object.is_capturable =
      object.enqueues_on != nullptr && (info.flags & EPH_COMPUTATION_CAPTURABLE) != 0;
  return Status::ok_status();
}

void Computation::find_queue(Object& object) {
  const Provider& provider = *object.provider;
  const uint32_t memory = object.memory.memory;
  const Device* device = nullptr;
  if (memory != kHostMemory) {
    device = provider.memories()[memory - 1].device.get();
  } else if (!provider.devices().empty()) {
    device = provider.devices().front().get();
  }
  if (device != nullptr && device->has_streams()) object.enqueues_on = device;
}

CallLimit* Computation::call_limit() const { return object_->provider->call_limit(); }

plan::StepTraits Computation::traits() const {
  const std::span<const plan::SlotPair> pairs = object_->pairs;
  const std::span<const plan::SlotPart> parts = object_->parts;
  plan::StepTraits traits;
  traits.may_inplace = pairs.first(object_->inplace_count + object_->must_share_count);
  traits.must_share = must_share();
  traits.aliases = pairs.subspan(traits.may_inplace.size());
  traits.input_parts = parts.first(object_->input_part_count);
  traits.output_parts = parts.subspan(object_->input_part_count);
  traits.workspace_bytes = object_->workspace_bytes;
  traits.host_alignment = object_->host_alignment;
  return traits;
}

Result<ComputationState> Computation::create_state() const {
  const eph_computation_api& api = object_->api;
  if (api.create_state == nullptr) return ComputationState();
  void* state = nullptr;
  const std::string& provider = object_->provider->name();
  EPHOST_RETURN_IF_ERROR(call_slot({provider, "create_state"}, "creating a run state",
                                   api.create_state, object_->handle, &state));
  return ComputationState(provider, &api, object_->handle, state);
}

}  // namespace ephost::bridge
