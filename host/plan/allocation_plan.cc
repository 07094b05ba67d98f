#include "host/plan/allocation_plan.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "host/plan/lifetimes.h"

namespace ephost::plan {

using graph::ValueKind;
using graph::ValueType;

namespace {

// Raw bytes that a kernel can view as something else; strings and sequences are objects.
bool is_plain(const ValueType& type) {
  return type.kind == ValueKind::kTensor && graph::element_bits(type.element) > 0;
}

// A shape whose extents, given equal symbols, are the same wherever it appears.
bool is_definite(const ValueType& type) {
  return is_plain(type) && type.shape &&
         std::ranges::find(*type.shape, graph::kUnknownDim) == type.shape->end();
}

bool is_known_to_differ(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  return a && b && *a != *b;
}

// Values that use one buffer, one after the other or as views of each other.
struct Group {
  ValueId root = kNoValue;
  uint32_t location = 0;
  bool owned = false;       // by the plan: neither a graph input nor a constant
  bool has_output = false;  // its root is a graph output
  uint32_t first_pc = 0;
  uint32_t last_pc = 0;           // last use of any value in it so far
  uint32_t last_output = 0;       // program counter of the step that produced a value in it last
  std::optional<uint64_t> bytes;  // of the first value in it whose size is known
  bool is_free = false;           // stands in the free list
};

// Walks the steps once and decides for each output which group it joins.
class Sharing {
 public:
  Sharing(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
          std::vector<ValuePlan>& values);

  void run();
  // Instead of `run`: every output on its own.
  void run_without_reuse();
  // Writes kinds and roots into the values and returns the buffers that the plan owns.
  [[nodiscard]] std::vector<BufferPlan> finish();

 private:
  static constexpr uint32_t kNoGroup = std::numeric_limits<uint32_t>::max();
  using SizeKey = std::tuple<uint32_t, uint32_t, graph::Shape>;  // location, element bits, shape

  void visit_step(uint32_t pc);
  void release(uint32_t pc);
  [[nodiscard]] uint32_t find_alias(uint32_t pc, uint32_t slot) const;
  [[nodiscard]] uint32_t find_inplace(uint32_t pc, uint32_t slot) const;
  [[nodiscard]] uint32_t find_free(ValueId output);
  [[nodiscard]] ValueId input_of(uint32_t pc, uint32_t slot) const;
  [[nodiscard]] bool may_take_output(const Group& group, ValueId output) const;
  [[nodiscard]] bool is_read_elsewhere(uint32_t pc, uint32_t slot, uint32_t group) const;
  [[nodiscard]] SizeKey size_key(ValueId id) const;
  void add_group(ValueId root, bool owned);
  void join(ValueId id, uint32_t group);

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  std::vector<ValuePlan>& values_;
  std::vector<Group> groups_;
  std::vector<uint32_t> group_of_;                 // by value
  std::map<SizeKey, std::vector<uint32_t>> free_;  // dead groups of unknown size
};

Sharing::Sharing(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
                 std::vector<ValuePlan>& values)
    : graph_(graph),
      plan_(plan),
      traits_(traits),
      values_(values),
      group_of_(values.size(), kNoGroup) {
  for (ValueId id = 0; id < values.size(); ++id) {
    const AllocKind kind = values[id].kind;
    if (kind == AllocKind::kPreExisting || kind == AllocKind::kAllocateStatically) {
      add_group(id, false);
    }
  }
}

void Sharing::run() {
  for (uint32_t pc = 0; pc < plan_.steps.size(); ++pc) {
    visit_step(pc);
    release(pc);
  }
}

void Sharing::run_without_reuse() {
  for (const Step& step : plan_.steps) {
    for (const ValueId id : step.outputs) {
      if (id != kNoValue) add_group(id, true);
    }
  }
}

// Views first: an in-place output must not write what a view of the same step shows.
void Sharing::visit_step(uint32_t pc) {
  const std::vector<ValueId>& outputs = plan_.steps[pc].outputs;
  const auto try_all = [&](auto find_group) {
    for (uint32_t slot = 0; slot < outputs.size(); ++slot) {
      const ValueId id = outputs[slot];
      if (id == kNoValue || group_of_[id] != kNoGroup) continue;
      if (const uint32_t group = find_group(slot); group != kNoGroup) join(id, group);
    }
  };
  try_all([&](uint32_t slot) { return find_alias(pc, slot); });
  try_all([&](uint32_t slot) { return find_inplace(pc, slot); });
  try_all([&](uint32_t slot) { return find_free(outputs[slot]); });
  for (const ValueId id : outputs) {
    if (id != kNoValue && group_of_[id] == kNoGroup) add_group(id, true);
  }
}

// Puts the groups that nobody needs after this step into the free list.
void Sharing::release(uint32_t pc) {
  const auto release_group_of = [&](ValueId id) {
    if (id == kNoValue) return;
    Group& group = groups_[group_of_[id]];
    if (!group.owned || group.has_output || group.is_free || group.last_pc != pc) return;
    if (values_[group.root].bytes || !is_definite(graph_.values[group.root].type)) return;
    group.is_free = true;
    free_[size_key(group.root)].push_back(group_of_[id]);
  };
  const Step& step = plan_.steps[pc];
  std::ranges::for_each(step.inputs, release_group_of);
  std::ranges::for_each(step.implicit_inputs, release_group_of);
  std::ranges::for_each(step.outputs, release_group_of);
}

uint32_t Sharing::find_alias(uint32_t pc, uint32_t slot) const {
  const ValueId output = plan_.steps[pc].outputs[slot];
  for (const SlotPair pair : traits_[pc].aliases) {
    const ValueId input = input_of(pc, pair.input);
    if (pair.output != slot || input == kNoValue) continue;
    const Group& group = groups_[group_of_[input]];
    if (group.location != traits_[pc].location) continue;
    if (!is_plain(graph_.values[input].type) || !is_plain(graph_.values[output].type)) continue;
    if (is_known_to_differ(group.bytes, values_[output].bytes)) continue;
    if (may_take_output(group, output)) return group_of_[input];
  }
  return kNoGroup;
}

uint32_t Sharing::find_inplace(uint32_t pc, uint32_t slot) const {
  const ValueId output = plan_.steps[pc].outputs[slot];
  for (const SlotPair pair : traits_[pc].may_inplace) {
    const ValueId input = input_of(pc, pair.input);
    if (pair.output != slot || input == kNoValue) continue;
    const Group& group = groups_[group_of_[input]];
    const bool is_dying = group.last_pc <= pc && group.last_output < pc;
    if (!group.owned || group.has_output || !is_dying) continue;
    if (group.location != traits_[pc].location) continue;
    if (is_read_elsewhere(pc, pair.input, group_of_[input])) continue;
    if (is_known_to_differ(group.bytes, values_[output].bytes)) continue;
    if (!provably_equal_bytes(graph_.values[input].type, graph_.values[output].type)) continue;
    if (may_take_output(group, output)) return group_of_[input];
  }
  return kNoGroup;
}

uint32_t Sharing::find_free(ValueId output) {
  const ValuePlan& value = values_[output];
  if (value.bytes || value.kind == AllocKind::kAllocateOutput) return kNoGroup;
  if (!is_definite(graph_.values[output].type)) return kNoGroup;
  const auto found = free_.find(size_key(output));
  if (found == free_.end() || found->second.empty()) return kNoGroup;
  const uint32_t group = found->second.back();
  assert(groups_[group].last_pc < values_[output].first_pc);
  found->second.pop_back();
  groups_[group].is_free = false;
  return group;
}

ValueId Sharing::input_of(uint32_t pc, uint32_t slot) const {
  const std::vector<ValueId>& inputs = plan_.steps[pc].inputs;
  return slot < inputs.size() ? inputs[slot] : kNoValue;
}

// A graph output shares only as the root, which must be of known size when its buffer is made.
bool Sharing::may_take_output(const Group& group, ValueId output) const {
  if (values_[output].kind != AllocKind::kAllocateOutput) return true;
  const std::optional<uint64_t>& bytes = values_[output].bytes;
  return group.owned && !group.has_output && bytes && bytes == values_[group.root].bytes;
}

bool Sharing::is_read_elsewhere(uint32_t pc, uint32_t slot, uint32_t group) const {
  const auto uses_group = [&](ValueId id) { return id != kNoValue && group_of_[id] == group; };
  const Step& step = plan_.steps[pc];
  for (uint32_t i = 0; i < step.inputs.size(); ++i) {
    if (i != slot && uses_group(step.inputs[i])) return true;
  }
  return std::ranges::any_of(step.implicit_inputs, uses_group);
}

Sharing::SizeKey Sharing::size_key(ValueId id) const {
  const ValueType& type = graph_.values[id].type;
  return {values_[id].location, graph::element_bits(type.element), *type.shape};
}

void Sharing::add_group(ValueId root, bool owned) {
  Group group;
  group.root = root;
  group.location = values_[root].location;
  group.owned = owned;
  group.has_output = values_[root].kind == AllocKind::kAllocateOutput;
  group.first_pc = values_[root].first_pc;
  group.last_pc = values_[root].last_pc;
  group.last_output = group.first_pc;
  group.bytes = values_[root].bytes;
  group_of_[root] = static_cast<uint32_t>(groups_.size());
  groups_.push_back(group);
}

void Sharing::join(ValueId id, uint32_t index) {
  Group& group = groups_[index];
  group.last_pc = std::max(group.last_pc, values_[id].last_pc);
  group.last_output = values_[id].first_pc;
  if (!group.bytes) group.bytes = values_[id].bytes;
  group_of_[id] = index;
  if (values_[id].kind == AllocKind::kAllocateOutput) {
    group.root = id;
    group.has_output = true;
  }
}

std::vector<BufferPlan> Sharing::finish() {
  for (ValueId id = 0; id < values_.size(); ++id) {
    if (group_of_[id] == kNoGroup) continue;
    const ValueId root = groups_[group_of_[id]].root;
    values_[id].reused = root;
    if (root != id) values_[id].kind = AllocKind::kReuse;
  }
  std::vector<BufferPlan> buffers;
  for (const Group& group : groups_) {
    if (!group.owned) continue;
    buffers.push_back(
        {group.root, group.location, group.first_pc, group.last_pc, values_[group.root].bytes});
  }
  std::ranges::sort(buffers, {}, [](const BufferPlan& b) { return std::pair(b.first_pc, b.root); });
  return buffers;
}

}  // namespace

std::string_view alloc_kind_name(AllocKind kind) {
  switch (kind) {
    case AllocKind::kNone:
      return "None";
    case AllocKind::kAllocate:
      return "Allocate";
    case AllocKind::kReuse:
      return "Reuse";
    case AllocKind::kPreExisting:
      return "PreExisting";
    case AllocKind::kAllocateStatically:
      return "AllocateStatically";
    case AllocKind::kAllocateOutput:
      return "AllocateOutput";
  }
  return "None";
}

bool provably_equal_bytes(const ValueType& a, const ValueType& b) {
  if (!is_definite(a) || !is_definite(b)) return false;
  if (graph::element_bits(a.element) == graph::element_bits(b.element) && a.shape == b.shape) {
    return true;
  }
  const std::optional<uint64_t> bytes = graph::byte_size(a.element, *a.shape);
  return bytes && bytes == graph::byte_size(b.element, *b.shape);
}

Result<AllocationPlan> plan_allocation(const Graph& graph, const ExecutionPlan& plan,
                                       std::span<const StepTraits> traits,
                                       const AllocationOptions& options) {
  AllocationPlan allocation;
  allocation.steps = static_cast<uint32_t>(plan.steps.size());
  EPHOST_ASSIGN_OR_RETURN(allocation.values, find_lifetimes(graph, plan, traits));
  Sharing sharing(graph, plan, traits, allocation.values);
  if (options.enable_mem_reuse) {
    sharing.run();
  } else {
    sharing.run_without_reuse();
  }
  allocation.buffers = sharing.finish();
  for (uint32_t pc = 0; pc < traits.size(); ++pc) {
    if (traits[pc].workspace_bytes == 0) continue;
    allocation.workspaces.push_back({pc, traits[pc].location, traits[pc].workspace_bytes});
  }
  return allocation;
}

}  // namespace ephost::plan
