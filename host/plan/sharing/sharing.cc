#include "host/plan/sharing/sharing.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "host/plan/copies.h"

namespace ephost::plan {
namespace {

constexpr uint32_t kNoGroup = std::numeric_limits<uint32_t>::max();
// A buffer with more live values than this is not written in place, since all of them must be
// examined.
constexpr size_t kMaxMembers = 256;

bool is_known_to_differ(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  return a && b && *a != *b;
}

// Values that use one buffer, one after the other or as views of each other. A group that was
// merged into another one keeps only its position there.
struct Group {
  uint32_t parent = kNoGroup;
  uint64_t offset = 0;  // in the parent
  ValueId root = kNoValue;
  uint32_t location = 0;
  bool owned = false;          // by the plan: not a graph input or a constant
  bool has_output = false;     // its root is a graph output
  bool has_open_size = false;  // the size of a value in it is unknown
  uint32_t first_pc = 0;
  uint32_t last_pc = 0;           // last use of any value in it so far
  std::optional<uint64_t> bytes;  // of the first value of known size at its start
  std::vector<ValueId> members;   // values that may still be needed
};

// The position of a value: a group without a parent, and an offset in it.
struct Place {
  uint32_t group = kNoGroup;
  uint64_t offset = 0;
};

// Values that share with none: both sides of pairs that must share, where one is the copy of a
// graph input in another location and the other is copied to a graph output. The application may
// bring one piece of memory for both.
class ApartValues {
 public:
  ApartValues(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits) {
    const auto has_pairs = [](const StepTraits& step) { return !step.must_share.empty(); };
    if (std::ranges::none_of(traits, has_pairs)) return;
    std::vector<bool> from_input(graph.values.size());
    std::vector<bool> to_output(graph.values.size());
    for (const Step& step : plan.steps) {
      if (!is_copy(graph.nodes[step.node])) continue;
      const ValueId from = step.inputs[0];
      const ValueId to = step.outputs[0];
      if (std::ranges::find(graph.inputs, from) != graph.inputs.end()) from_input[to] = true;
      if (graph.values[to].is_graph_output) to_output[from] = true;
    }
    is_apart_.resize(graph.values.size());
    for (size_t pc = 0; pc < traits.size(); ++pc) {
      const Step& step = plan.steps[pc];
      for (const SlotPair& pair : traits[pc].must_share) {
        if (pair.input >= step.inputs.size() || pair.output >= step.outputs.size()) continue;
        const ValueId input = step.inputs[pair.input];
        const ValueId output = step.outputs[pair.output];
        if (input == kNoValue || output == kNoValue) continue;
        if (from_input[input] && to_output[output]) is_apart_[input] = is_apart_[output] = true;
      }
    }
  }
  [[nodiscard]] bool has(ValueId id) const { return !is_apart_.empty() && is_apart_[id]; }

 private:
  std::vector<bool> is_apart_;  // by value; empty if there are none
};

class Sharing {
 public:
  Sharing(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
          std::vector<ValuePlan> values, const std::vector<bool>& without_parts)
      : graph_(graph),
        plan_(plan),
        traits_(traits),
        without_parts_(without_parts),
        values_(std::move(values)),
        places_(values_.size()),
        apart_(graph, plan, traits) {}

  [[nodiscard]] Shared run() &&;

 private:
  void visit_step(uint32_t pc);
  void find_alias(uint32_t pc, uint32_t slot);
  void find_output_part(uint32_t pc, uint32_t slot);
  void find_inplace(uint32_t pc, uint32_t slot);
  void join_input_parts(uint32_t pc, uint32_t slot);
  void join_input_part(uint32_t pc, ValueId output, const SlotPart& part, uint64_t& end);

  [[nodiscard]] ValueId input_of(uint32_t pc, uint32_t slot) const;
  [[nodiscard]] Place place_of(ValueId id);
  [[nodiscard]] bool may_take_output(const Group& group, uint64_t offset, ValueId output) const;
  [[nodiscard]] bool is_needed_after(ValueId id, uint32_t pc) const {
    return values_[id].last_pc > pc || values_[id].kind == AllocKind::kAllocateOutput;
  }
  [[nodiscard]] bool is_needed_otherwise(uint32_t pc, uint32_t slot, Place place);
  [[nodiscard]] bool overlap(ValueId a, uint64_t offset_a, ValueId b, uint64_t offset_b) const;
  void add_group(ValueId root, bool owned);
  void join(ValueId id, Place place);
  void use_parts(uint32_t pc, ValueId whole);
  [[nodiscard]] std::vector<BufferPlan> finish();

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  const std::vector<bool>& without_parts_;
  std::vector<ValuePlan> values_;
  std::vector<Place> places_;  // by value; the group may have been merged since
  const ApartValues apart_;
  std::vector<Group> groups_;
  std::vector<std::pair<PartUse, ValueId>> part_uses_;  // with the value that contains the parts
};

Shared Sharing::run() && {
  groups_.reserve(values_.size());
  for (ValueId id = 0; id < values_.size(); ++id) {
    const AllocKind kind = values_[id].kind;
    if (kind == AllocKind::kPreExisting || kind == AllocKind::kAllocateStatically) {
      add_group(id, false);
    }
  }
  for (uint32_t pc = 0; pc < plan_.steps.size(); ++pc) visit_step(pc);
  Shared shared;
  shared.buffers = finish();
  for (auto& [use, whole] : part_uses_) {
    const Group& group = groups_[place_of(whole).group];
    if (values_[whole].first_pc == use.pc) {
      use.first_pc = group.first_pc;
      use.last_pc = use.pc - 1;
    } else {
      use.first_pc = use.pc + 1;
      use.last_pc = group.last_pc;
    }
    shared.part_uses.push_back(use);
  }
  shared.values = std::move(values_);
  return shared;
}

// Views first: an in-place output must not overwrite a view of the same step.
void Sharing::visit_step(uint32_t pc) {
  const std::vector<ValueId>& outputs = plan_.steps[pc].outputs;
  const StepTraits& traits = traits_[pc];
  const auto for_each_open_slot = [&](auto visit) {
    for (uint32_t slot = 0; slot < outputs.size(); ++slot) {
      if (outputs[slot] != kNoValue && places_[outputs[slot]].group == kNoGroup) visit(slot);
    }
  };
  if (!traits.aliases.empty()) {
    for_each_open_slot([&](uint32_t slot) { find_alias(pc, slot); });
  }
  if (!traits.output_parts.empty() && !without_parts_[pc]) {
    for_each_open_slot([&](uint32_t slot) { find_output_part(pc, slot); });
  }
  if (!traits.may_inplace.empty()) {
    for_each_open_slot([&](uint32_t slot) { find_inplace(pc, slot); });
  }
  for_each_open_slot([&](uint32_t slot) {
    add_group(outputs[slot], true);
    if (!traits.input_parts.empty() && !without_parts_[pc]) join_input_parts(pc, slot);
  });
}

void Sharing::find_alias(uint32_t pc, uint32_t slot) {
  const ValueId output = plan_.steps[pc].outputs[slot];
  for (const SlotPair pair : traits_[pc].aliases) {
    const ValueId input = input_of(pc, pair.input);
    if (pair.output != slot || input == kNoValue) continue;
    const Place place = place_of(input);
    const Group& group = groups_[place.group];
    if (group.location != values_[output].location) continue;
    if (!is_plain(graph_.values[input].type) || !is_plain(graph_.values[output].type)) continue;
    const std::optional<uint64_t> bytes = values_[input].bytes ? values_[input].bytes : group.bytes;
    if (is_known_to_differ(bytes, values_[output].bytes)) continue;
    // A value of unknown size fills its buffer.
    if (!values_[output].bytes && is_known_to_differ(bytes, group.bytes)) continue;
    if (may_take_output(group, place.offset, output)) return join(output, place);
  }
}

void Sharing::find_output_part(uint32_t pc, uint32_t slot) {
  const ValueId output = plan_.steps[pc].outputs[slot];
  for (const SlotPart& part : traits_[pc].output_parts) {
    const ValueId input = input_of(pc, part.input);
    if (part.output != slot || input == kNoValue) continue;
    if (values_[output].kind == AllocKind::kAllocateOutput) continue;
    Place place = place_of(input);
    const Group& group = groups_[place.group];
    if (group.location != values_[output].location || !values_[group.root].bytes) continue;
    if (!is_plain(graph_.values[input].type) || !is_plain(graph_.values[output].type)) continue;
    const std::optional<uint64_t>& whole = values_[input].bytes;
    const std::optional<uint64_t>& bytes = values_[output].bytes;
    if (!whole || !bytes || *bytes == 0) continue;
    if (part.offset > *whole || *bytes > *whole - part.offset) continue;
    place.offset += part.offset;
    if (place.offset % kPartAlignment != 0) continue;
    join(output, place);
    return use_parts(pc, input);
  }
}

void Sharing::find_inplace(uint32_t pc, uint32_t slot) {
  const ValueId output = plan_.steps[pc].outputs[slot];
  for (const SlotPair pair : traits_[pc].may_inplace) {
    const ValueId input = input_of(pc, pair.input);
    if (pair.output != slot || input == kNoValue) continue;
    if (apart_.has(input) || apart_.has(output)) continue;
    const Place place = place_of(input);
    const Group& group = groups_[place.group];
    if (!group.owned || group.location != values_[output].location) continue;
    if (!provably_equal_bytes(graph_.values[input].type, graph_.values[output].type)) continue;
    // A view of the input may have a known size even if the input does not.
    if (!values_[input].bytes && is_known_to_differ(group.bytes, values_[output].bytes)) continue;
    if (!may_take_output(group, place.offset, output)) continue;
    if (!is_needed_otherwise(pc, pair.input, place)) return join(output, place);
  }
}

// The output has a group of its own by now. Buffers of inputs that hold nothing else become part of
// it.
void Sharing::join_input_parts(uint32_t pc, uint32_t slot) {
  const ValueId output = plan_.steps[pc].outputs[slot];
  if (!values_[output].bytes || !is_plain(graph_.values[output].type)) return;
  uint64_t end = 0;
  for (const SlotPart& part : traits_[pc].input_parts) {
    if (part.output == slot) join_input_part(pc, output, part, end);
  }
}

// Parts that are not in ascending order are copied.
void Sharing::join_input_part(uint32_t pc, ValueId output, const SlotPart& part, uint64_t& end) {
  const ValueId input = input_of(pc, part.input);
  if (input == kNoValue || !is_plain(graph_.values[input].type)) return;
  const std::optional<uint64_t>& bytes = values_[input].bytes;
  const uint64_t whole = *values_[output].bytes;
  if (!bytes || *bytes == 0 || part.offset < end || part.offset % kPartAlignment != 0) return;
  if (part.offset > whole || *bytes > whole - part.offset) return;
  const Place from = place_of(input);
  const Place to = places_[output];
  Group& child = groups_[from.group];
  Group& group = groups_[to.group];
  if (from.group == to.group || !child.owned || child.has_output || child.has_open_size) return;
  if (child.location != group.location || from.offset != 0) return;
  if (child.bytes != bytes || values_[child.root].bytes != bytes) return;
  // Another output of the step may be written there.
  const auto is_new = [&](ValueId id) { return values_[id].first_pc == pc; };
  if (std::ranges::any_of(child.members, is_new)) return;
  end = part.offset + *bytes;
  child.parent = to.group;
  child.offset = part.offset;
  group.first_pc = std::min(group.first_pc, child.first_pc);
  group.last_pc = std::max(group.last_pc, child.last_pc);
  group.members.insert(group.members.end(), child.members.begin(), child.members.end());
  child.members = {};
  use_parts(pc, output);
}

void Sharing::use_parts(uint32_t pc, ValueId whole) {
  if (!part_uses_.empty() && part_uses_.back().first.pc == pc) return;
  part_uses_.push_back({{pc, 0, 0, *values_[whole].bytes}, whole});
}

ValueId Sharing::input_of(uint32_t pc, uint32_t slot) const {
  const std::vector<ValueId>& inputs = plan_.steps[pc].inputs;
  return slot < inputs.size() ? inputs[slot] : kNoValue;
}

// Caches the result, so that a long chain of parts is walked once.
Place Sharing::place_of(ValueId id) {
  Place& place = places_[id];
  while (groups_[place.group].parent != kNoGroup) {
    Group& group = groups_[place.group];
    Group& parent = groups_[group.parent];
    place = {group.parent, place.offset + group.offset};
    if (parent.parent == kNoGroup) continue;
    group.offset += parent.offset;
    group.parent = parent.parent;
  }
  return place;
}

// A graph output shares only as the root, whose size must be known when its buffer is allocated.
bool Sharing::may_take_output(const Group& group, uint64_t offset, ValueId output) const {
  if (values_[output].kind != AllocKind::kAllocateOutput) return true;
  const std::optional<uint64_t>& bytes = values_[output].bytes;
  return group.owned && !group.has_output && offset == 0 && bytes &&
         bytes == values_[group.root].bytes;
}

// Whether anything but `slot` needs the bytes of the input, at this step or later. Drops members
// that are no longer needed.
bool Sharing::is_needed_otherwise(uint32_t pc, uint32_t slot, Place place) {
  const Step& step = plan_.steps[pc];
  const ValueId input = step.inputs[slot];
  if (is_needed_after(input, pc)) return true;
  if (std::ranges::count(step.inputs, input) > 1) return true;
  if (std::ranges::find(step.implicit_inputs, input) != step.implicit_inputs.end()) return true;
  std::vector<ValueId>& members = groups_[place.group].members;
  size_t looked_at = 0;
  for (size_t i = 0; i < members.size();) {
    const ValueId member = members[i];
    if (values_[member].last_pc < pc) {
      members[i] = members.back();
      members.pop_back();
      continue;
    }
    if (member != input && overlap(input, place.offset, member, place_of(member).offset)) {
      return true;
    }
    if (++looked_at == kMaxMembers) return true;
    ++i;
  }
  return false;
}

// A value of unknown size fills its buffer.
bool Sharing::overlap(ValueId a, uint64_t offset_a, ValueId b, uint64_t offset_b) const {
  const std::optional<uint64_t>& bytes_a = values_[a].bytes;
  const std::optional<uint64_t>& bytes_b = values_[b].bytes;
  if (!bytes_a || !bytes_b) return true;
  return offset_a < offset_b + std::max<uint64_t>(*bytes_b, 1) &&
         offset_b < offset_a + std::max<uint64_t>(*bytes_a, 1);
}

void Sharing::add_group(ValueId root, bool owned) {
  places_[root] = {static_cast<uint32_t>(groups_.size()), 0};
  Group& group = groups_.emplace_back();
  group.root = root;
  group.location = values_[root].location;
  group.owned = owned;
  group.has_output = values_[root].kind == AllocKind::kAllocateOutput;
  group.first_pc = values_[root].first_pc;
  group.last_pc = values_[root].last_pc;
  group.bytes = values_[root].bytes;
  group.has_open_size = !group.bytes;
  group.members.push_back(root);
}

void Sharing::join(ValueId id, Place place) {
  Group& group = groups_[place.group];
  group.last_pc = std::max(group.last_pc, values_[id].last_pc);
  if (!group.bytes && place.offset == 0) group.bytes = values_[id].bytes;
  group.has_open_size = group.has_open_size || !values_[id].bytes;
  group.members.push_back(id);
  places_[id] = place;
  if (values_[id].kind == AllocKind::kAllocateOutput) {
    group.root = id;
    group.has_output = true;
  }
}

std::vector<BufferPlan> Sharing::finish() {
  for (ValueId id = 0; id < values_.size(); ++id) {
    if (places_[id].group == kNoGroup) continue;
    const Place place = place_of(id);
    const ValueId root = groups_[place.group].root;
    values_[id].reused = root;
    values_[id].offset = place.offset;
    if (root != id) values_[id].kind = AllocKind::kReuse;
  }
  std::vector<BufferPlan> buffers;
  for (const Group& group : groups_) {
    if (!group.owned || group.parent != kNoGroup) continue;
    buffers.push_back(
        {group.root, group.location, group.first_pc, group.last_pc, values_[group.root].bytes});
  }
  std::ranges::sort(buffers, {}, [](const BufferPlan& b) { return std::pair(b.first_pc, b.root); });
  return buffers;
}

}  // namespace

Shared share_buffers(const Graph& graph, const ExecutionPlan& plan,
                     std::span<const StepTraits> traits, std::vector<ValuePlan> values,
                     const std::vector<bool>& without_parts) {
  return Sharing(graph, plan, traits, std::move(values), without_parts).run();
}

Shared without_sharing(const ExecutionPlan& plan, std::vector<ValuePlan> values) {
  Shared shared;
  for (const Step& step : plan.steps) {
    for (const ValueId id : step.outputs) {
      if (id == kNoValue) continue;
      const ValuePlan& value = values[id];
      shared.buffers.push_back({id, value.location, value.first_pc, value.last_pc, value.bytes});
    }
  }
  std::ranges::sort(shared.buffers, {},
                    [](const BufferPlan& b) { return std::pair(b.first_pc, b.root); });
  shared.values = std::move(values);
  return shared;
}

}  // namespace ephost::plan
