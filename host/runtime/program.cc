#include "host/runtime/program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/graph_view.h"
#include "host/bridge/provider.h"

namespace ephost::runtime {
namespace {

bool is_external(plan::AllocKind kind) {
  return kind == plan::AllocKind::kPreExisting || kind == plan::AllocKind::kAllocateStatically ||
         kind == plan::AllocKind::kAllocateOutput;
}

}  // namespace

Program::Program(Parts parts) : parts_(std::move(parts)), patterns_(parts_.max_patterns) {
  find_dynamic_buffers();
  convert_constants();
  find_alignments();
  align_constants();
  for (graph::ValueId id = 0; id < parts_.graph->values.size(); ++id) {
    if (parts_.graph->values[id].outer != graph::kNoValue) captures_.push_back(id);
  }
  if (!parts_.devices.empty() && !parts_.is_body) {
    device_ends_ = find_device_ends(*parts_.graph, parts_.execution, parts_.allocation);
  }
  if (!parts_.is_body) {
    shared_ends_ = find_shared_ends(*parts_.graph, parts_.execution, parts_.allocation,
                                    parts_.computations, device_ends_);
  }
  if (parts_.threads > 1 && !has_streams()) prepare_parallel_steps();
}

void Program::find_dynamic_buffers() {
  const std::vector<plan::ValuePlan>& values = parts_.allocation.values;
  for (graph::ValueId id = 0; id < values.size(); ++id) {
    const plan::ValuePlan& value = values[id];
    if (value.kind == plan::AllocKind::kReuse && is_external(values[value.reused].kind)) {
      followers_.push_back(id);
    }
  }
  for (const plan::BufferPlan& buffer : parts_.allocation.buffers) {
    if (values[buffer.root].kind != plan::AllocKind::kAllocate) {
      is_static_ = is_static_ && buffer.bytes.has_value();
      continue;
    }
    if (parts_.pattern.offsets[buffer.root] != plan::kNoOffset) continue;
    is_static_ = false;
    released_after_.resize(parts_.execution.steps.size());
    released_after_[buffer.last_pc].push_back(buffer.root);
  }
}

void Program::prepare_parallel_steps() {
  dependencies_ = find_dependencies(parts_.pattern, {});
  is_parallel_ = plan::has_parallel_steps(dependencies_);
  if (!is_parallel_) return;
  constexpr uint32_t kNotOpen = UINT32_MAX;
  std::vector<uint32_t> index_of(parts_.graph->values.size(), kNotOpen);
  for (const std::vector<graph::ValueId>& roots : released_after_) {
    for (const graph::ValueId root : roots) {
      index_of[root] = static_cast<uint32_t>(open_buffers_.size());
      open_buffers_.push_back({root, 0});
    }
  }
  for (const plan::Step& step : parts_.execution.steps) {
    std::vector<uint32_t>& used = open_buffers_of_.emplace_back();
    for (const auto* ids : {&step.inputs, &step.implicit_inputs, &step.outputs}) {
      for (const graph::ValueId id : *ids) {
        if (id == graph::kNoValue) continue;
        const graph::ValueId root = parts_.allocation.values[id].reused;
        const uint32_t index = root == graph::kNoValue ? kNotOpen : index_of[root];
        if (index == kNotOpen || std::ranges::find(used, index) != used.end()) continue;
        used.push_back(index);
        ++open_buffers_[index].users;
      }
    }
  }
}

void Program::convert_constants() {
  constant_strings_.reserve(parts_.graph->initializers.size());
  for (const graph::Tensor& tensor : parts_.graph->initializers) {
    std::vector<eph_string>& strings = constant_strings_.emplace_back();
    if (tensor.strings) {
      for (const std::string& text : *tensor.strings) strings.push_back(bridge::to_abi(text));
    }
    constants_.push_back(bridge::constant_value(tensor, strings));
  }
}

void Program::find_alignments() {
  for (size_t i = 0; i < parts_.execution.steps.size(); ++i) {
    const bridge::Computation* const computation = this->computation(i);
    if (computation == nullptr || computation->host_alignment() <= kAlignment) continue;
    const uint64_t alignment = computation->host_alignment();
    host_alignment_ = std::max(host_alignment_, alignment);
    alignments_.resize(parts_.graph->values.size(), kAlignment);
    const plan::Step& step = parts_.execution.steps[i];
    for (const auto* ids : {&step.inputs, &step.outputs}) {
      for (const graph::ValueId id : *ids) {
        if (id == graph::kNoValue) continue;
        const graph::ValueId root = parts_.allocation.values[id].reused;
        alignments_[id] = std::max(alignments_[id], alignment);
        if (root != graph::kNoValue) alignments_[root] = std::max(alignments_[root], alignment);
      }
    }
  }
}

// Once for all runs. Where memory runs out, the steps copy what they need themselves.
void Program::align_constants() {
  for (graph::ValueId id = 0; id < alignments_.size(); ++id) {
    const graph::Value& value = parts_.graph->values[id];
    if (alignments_[id] <= kAlignment || value.initializer == graph::kNoInitializer) continue;
    if (parts_.allocation.values[id].location != plan::kHostLocation) continue;
    eph_value& constant = constants_[value.initializer];
    const bool has_bytes = constant.data != nullptr && constant.byte_size != 0 &&
                           constant.element_type != EPH_ELEMENT_STRING;
    if (!has_bytes || reinterpret_cast<uintptr_t>(constant.data) % alignments_[id] == 0) continue;
    AlignedMemory copy =
        allocate_aligned(constant.byte_size, alignments_[id], Sharing::kWithWorkers);
    if (copy == nullptr) continue;
    std::memcpy(copy.get(), constant.data, constant.byte_size);
    constant.data = copy.get();
    aligned_constants_.push_back(std::move(copy));
  }
}

const bridge::DeviceMemory* Program::staging() const {
  for (const DeviceLocation& location : parts_.devices) {
    const bridge::MemoryInfo& info = location.memory.info();
    if (info.is_staging && info.alignment >= host_alignment_) return &location.memory;
  }
  return nullptr;
}

std::optional<uint32_t> Program::location_of(const bridge::Provider& provider,
                                             uint32_t memory) const {
  if (memory == bridge::kHostMemory || memory > provider.memories().size()) return std::nullopt;
  const bridge::DeviceMemory& wanted = provider.memories()[memory - 1];
  for (uint32_t i = 0; i < parts_.devices.size(); ++i) {
    const DeviceLocation& location = parts_.devices[i];
    if (location.number == memory && location.memory == wanted) return i + 1;
  }
  return std::nullopt;
}

uint32_t Program::memory_at(uint32_t location, const bridge::Provider& reader) const {
  if (location == plan::kHostLocation) return bridge::kHostMemory;
  const bridge::DeviceMemory& there = parts_.devices[location - 1].memory;
  const std::span<const bridge::DeviceMemory> own = reader.memories();
  auto found = std::ranges::find(own, there);
  if (found == own.end()) {
    found = std::ranges::find_if(
        own, [&](const auto& memory) { return memory.info().is_served_by(there.info()); });
  }
  return found == own.end() ? bridge::kHostMemory : static_cast<uint32_t>(found - own.begin()) + 1;
}

void Program::forget_patterns() const {
  patterns_.clear();
  for (const std::unique_ptr<HostOperator>& one : parts_.host_operators) {
    if (one == nullptr) continue;
    for (size_t i = 0; i < one->body_count(); ++i) one->body(i).forget_patterns();
  }
}

std::string Program::describe_step(size_t step) const {
  const plan::Step& planned = parts_.execution.steps[step];
  std::string text = graph::describe_node(*parts_.graph, planned.node);
  if (planned.partition != plan::kNoPartition) text = "the partition that starts with " + text;
  const bridge::Computation* computation = this->computation(step);
  return text + " on " + (computation ? computation->provider().name() : "the host");
}

std::string Program::describe_block(const plan::MemoryPattern& pattern, uint32_t location) const {
  const plan::AllocationPlan& plan = parts_.allocation;
  uint64_t largest = 0;
  uint32_t step = 0;
  const auto consider = [&](uint64_t offset, uint32_t at, uint64_t bytes, uint32_t pc) {
    if (offset == plan::kNoOffset || at != location || bytes <= largest) return;
    largest = bytes;
    step = pc;
  };
  for (size_t id = 0; id < plan.values.size(); ++id) {
    const plan::ValuePlan& value = plan.values[id];
    consider(pattern.offsets[id], value.location, value.bytes.value_or(0), value.first_pc);
  }
  for (const plan::Workspace& workspace : plan.workspaces) {
    consider(pattern.workspace_offsets[workspace.pc], workspace.location, workspace.bytes,
             workspace.pc);
  }
  if (largest == 0) return "the block of intermediate values";
  return formatted("the block of intermediate values ({} bytes of it for {})", largest,
                   describe_step(step));
}

}  // namespace ephost::runtime
