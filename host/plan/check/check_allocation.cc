#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plan/check/checker.h"

namespace ephost::plan {
namespace {

using graph::ValueType;

Status wrong_allocation(const std::string& what) {
  return {StatusCode::kFail, "the allocation plan is wrong: " + what};
}

std::optional<uint64_t> bytes_of(const ValueType& type) {
  if (type.kind != graph::ValueKind::kTensor || !type.shape) return std::nullopt;
  return graph::byte_size(type.element, *type.shape);
}

// The sizes are known to be equal, or equal whatever the symbols stand for.
bool same_size(const ValueType& a, const ValueType& b) {
  const std::optional<uint64_t> bytes = bytes_of(a);
  if (bytes) return bytes == bytes_of(b);
  if (a.kind != graph::ValueKind::kTensor || b.kind != a.kind || !a.shape || !b.shape) return false;
  const uint32_t bits = graph::element_bits(a.element);
  if (bits == 0 || bits != graph::element_bits(b.element)) return false;
  return std::equal(a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
                    [](int64_t x, int64_t y) { return x == y && x != graph::kUnknownDim; });
}

// How a value is used, according to the steps' own lists.
struct Use {
  bool is_produced = false;
  bool is_output = false;
  uint32_t reads = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t location = 0;  // where its step produces it
};

// The location of a slot of a step.
uint32_t place_of(const ValueType& type, const StepTraits& step, bool is_input, uint32_t slot) {
  const bool is_object =
      type.kind != graph::ValueKind::kTensor && type.kind != graph::ValueKind::kUnknown;
  if (is_object || type.element == graph::ElementType::kString) return 0;
  for (const SlotLocation& listed : is_input ? step.input_locations : step.output_locations) {
    if (listed.slot == slot) return listed.location;
  }
  return step.location;
}

// Executes the plan with buffers that track which values they currently hold.
class AllocationCheck {
 public:
  AllocationCheck(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
                  const AllocationPlan& allocation)
      : graph_(graph), plan_(plan), traits_(traits), allocation_(allocation) {}

  [[nodiscard]] Status run();

 private:
  void find_uses();
  [[nodiscard]] Status check_value(ValueId id) const;
  [[nodiscard]] AllocKind expected_kind(ValueId id) const;
  [[nodiscard]] Status check_reuse(ValueId id) const;
  [[nodiscard]] Status check_buffers() const;
  [[nodiscard]] Status check_workspaces() const;
  [[nodiscard]] Status simulate();
  [[nodiscard]] Status check_reads(uint32_t pc) const;
  [[nodiscard]] Status write(uint32_t pc, uint32_t slot);
  [[nodiscard]] Status check_view(uint32_t pc, uint32_t slot, ValueId input) const;
  [[nodiscard]] Status check_output_part(uint32_t pc, const SlotPart& part) const;
  [[nodiscard]] Status check_in_place(uint32_t pc, uint32_t slot, ValueId input) const;
  [[nodiscard]] Status check_fresh(uint32_t pc, uint32_t slot) const;
  // The input whose buffer a slot pair lets the output reuse, or kNoValue.
  [[nodiscard]] ValueId partner(uint32_t pc, uint32_t slot, std::span<const SlotPair> pairs) const;
  // The part that permits the output to lie where it does within an input, or null.
  [[nodiscard]] const SlotPart* output_part(uint32_t pc, uint32_t slot) const;
  // Whether `id` lies within an input where a part of the output permits it.
  [[nodiscard]] bool is_in_input_part(uint32_t pc, uint32_t slot, ValueId id) const;
  [[nodiscard]] bool has_place(const SlotPart& part, ValueId inner, ValueId outer) const;
  [[nodiscard]] bool overlap(ValueId a, ValueId b) const;
  [[nodiscard]] bool contains(ValueId outer, ValueId inner) const;
  [[nodiscard]] bool is_needed_after(ValueId id, uint32_t pc) const {
    return uses_[id].is_output || uses_[id].last > pc;
  }
  [[nodiscard]] ValueId root(ValueId id) const { return allocation_.values[id].reused; }
  [[nodiscard]] bool is_read_only(ValueId id) const;
  [[nodiscard]] std::string name(ValueId id) const;
  [[nodiscard]] std::string at(uint32_t pc, ValueId id) const;

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  const AllocationPlan& allocation_;
  std::vector<Use> uses_;                       // by value
  std::map<ValueId, std::set<ValueId>> holds_;  // by root: the values currently in it
};

Status AllocationCheck::run() {
  if (allocation_.values.size() != graph_.values.size() || traits_.size() != plan_.steps.size() ||
      allocation_.steps != plan_.steps.size()) {
    return wrong_allocation("it belongs to another graph or execution plan");
  }
  find_uses();
  for (ValueId id = 0; id < graph_.values.size(); ++id) EPHOST_RETURN_IF_ERROR(check_value(id));
  EPHOST_RETURN_IF_ERROR(check_buffers());
  EPHOST_RETURN_IF_ERROR(check_workspaces());
  return simulate();
}

void AllocationCheck::find_uses() {
  uses_.assign(graph_.values.size(), {});
  for (auto pc = static_cast<uint32_t>(plan_.steps.size()); pc-- > 0;) {
    const Step& step = plan_.steps[pc];
    for (const auto* list : {&step.inputs, &step.implicit_inputs}) {
      for (const ValueId id : *list) {
        if (id == kNoValue) continue;
        if (uses_[id].reads++ == 0) uses_[id].last = pc;
      }
    }
    for (uint32_t slot = 0; slot < step.outputs.size(); ++slot) {
      const ValueId id = step.outputs[slot];
      if (id == kNoValue) continue;
      uses_[id].is_produced = true;
      uses_[id].location = place_of(graph_.values[id].type, traits_[pc], false, slot);
      uses_[id].first = pc;
      uses_[id].last = std::max(uses_[id].last, pc);
    }
  }
  const uint32_t end = plan_.steps.empty() ? 0 : static_cast<uint32_t>(plan_.steps.size() - 1);
  for (const ValueId id : graph_.outputs) {
    uses_[id].is_output = true;
    ++uses_[id].reads;
    uses_[id].last = end;
  }
}

AllocKind AllocationCheck::expected_kind(ValueId id) const {
  const graph::Value& value = graph_.values[id];
  const Use& use = uses_[id];
  if (use.is_produced) return use.is_output ? AllocKind::kAllocateOutput : AllocKind::kAllocate;
  if (value.is_graph_input) return AllocKind::kPreExisting;
  if (use.reads == 0) return AllocKind::kNone;
  if (value.outer != kNoValue) return AllocKind::kPreExisting;
  return value.initializer != graph::kNoInitializer ? AllocKind::kAllocateStatically
                                                    : AllocKind::kNone;
}

Status AllocationCheck::check_value(ValueId id) const {
  const ValuePlan& planned = allocation_.values[id];
  const Use& use = uses_[id];
  const AllocKind expected = expected_kind(id);
  const bool shares = planned.kind == AllocKind::kReuse && expected == AllocKind::kAllocate;
  if (planned.kind != expected && !shares) {
    return wrong_allocation(formatted("{} is {} instead of {}", name(id),
                                      alloc_kind_name(planned.kind), alloc_kind_name(expected)));
  }
  if (planned.use_count != use.reads) return wrong_allocation(name(id) + " has a wrong use count");
  if (planned.bytes != bytes_of(graph_.values[id].type)) {
    return wrong_allocation(name(id) + " has a wrong size");
  }
  if (expected == AllocKind::kNone) {
    return planned.reused == kNoValue ? Status::ok_status()
                                      : wrong_allocation(name(id) + " is unused but has a buffer");
  }
  const bool lasts = expected == AllocKind::kAllocateStatically && !plan_.steps.empty();
  const uint32_t last = lasts ? static_cast<uint32_t>(plan_.steps.size() - 1) : use.last;
  if (planned.first_pc != use.first || planned.last_pc != last) {
    return wrong_allocation(name(id) + " has a wrong lifetime");
  }
  if (use.is_produced && planned.location != use.location) {
    return wrong_allocation(name(id) + " is not where its step produces it");
  }
  const bool is_given = expected == AllocKind::kPreExisting || use.is_output;
  if (is_given && planned.location != 0) {
    return wrong_allocation(name(id) + " belongs to the caller but is not in host memory");
  }
  return check_reuse(id);
}

Status AllocationCheck::check_reuse(ValueId id) const {
  const ValuePlan& planned = allocation_.values[id];
  if (planned.kind != AllocKind::kReuse) {
    return planned.reused == id && planned.offset == 0
               ? Status::ok_status()
               : wrong_allocation(name(id) +
                                  " has a buffer kind of its own but reuses another buffer");
  }
  if (planned.reused >= allocation_.values.size() || planned.reused == id) {
    return wrong_allocation(name(id) + " reuses the buffer of nothing");
  }
  const ValuePlan& owner = allocation_.values[planned.reused];
  if (owner.kind == AllocKind::kReuse || owner.kind == AllocKind::kNone) {
    return wrong_allocation(
        formatted("{} reuses {}, which owns no buffer", name(id), name(planned.reused)));
  }
  if (owner.location != planned.location) {
    return wrong_allocation(name(id) + " reuses a buffer in another location");
  }
  if (planned.offset == 0) return Status::ok_status();
  const bool fits = planned.bytes && owner.bytes && planned.offset <= *owner.bytes &&
                    *planned.bytes <= *owner.bytes - planned.offset;
  if (!fits || planned.offset % kPartAlignment != 0) {
    return wrong_allocation(
        formatted("{} is not an aligned part of the buffer of {}", name(id), name(planned.reused)));
  }
  return Status::ok_status();
}

Status AllocationCheck::check_buffers() const {
  std::map<ValueId, std::pair<uint32_t, uint32_t>> spans;
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    if (!uses_[id].is_produced || is_read_only(root(id))) continue;
    const auto [it, is_new] = spans.try_emplace(root(id), uses_[id].first, uses_[id].last);
    it->second.first = std::min(it->second.first, uses_[id].first);
    it->second.second = std::max(it->second.second, uses_[id].last);
  }
  if (allocation_.buffers.size() != spans.size())
    return wrong_allocation("the number of buffers is wrong");
  std::pair<uint32_t, ValueId> previous = {0, 0};
  for (const BufferPlan& buffer : allocation_.buffers) {
    const auto span = spans.find(buffer.root);
    if (span == spans.end() || span->second != std::pair(buffer.first_pc, buffer.last_pc)) {
      return wrong_allocation("a buffer's lifetime differs from that of the values in it");
    }
    const ValuePlan& owner = allocation_.values[buffer.root];
    if (owner.location != buffer.location || owner.bytes != buffer.bytes) {
      return wrong_allocation(
          formatted("the buffer of {} has another size or place", name(buffer.root)));
    }
    const std::pair<uint32_t, ValueId> key = {buffer.first_pc, buffer.root};
    if (key < previous) return wrong_allocation("the buffers are not sorted");
    previous = key;
    spans.erase(span);
  }
  return Status::ok_status();
}

Status AllocationCheck::check_workspaces() const {
  std::vector<Workspace> expected;
  for (uint32_t pc = 0; pc < traits_.size(); ++pc) {
    const StepTraits& traits = traits_[pc];
    if (traits.workspace_bytes > 0) {
      expected.push_back({pc, traits.location, traits.workspace_bytes});
    }
  }
  const bool same = std::ranges::equal(
      expected, allocation_.workspaces, [](const Workspace& a, const Workspace& b) {
        return a.pc == b.pc && a.location == b.location && a.bytes == b.bytes;
      });
  return same ? Status::ok_status()
              : wrong_allocation("the workspaces differ from those that the steps requested");
}

Status AllocationCheck::simulate() {
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    if (!uses_[id].is_produced && root(id) == id) holds_[id].insert(id);
  }
  for (uint32_t pc = 0; pc < plan_.steps.size(); ++pc) {
    EPHOST_RETURN_IF_ERROR(check_reads(pc));
    for (uint32_t slot = 0; slot < plan_.steps[pc].outputs.size(); ++slot) {
      if (plan_.steps[pc].outputs[slot] != kNoValue) EPHOST_RETURN_IF_ERROR(write(pc, slot));
    }
    for (const ValueId id : plan_.steps[pc].outputs) {
      if (id != kNoValue && !holds_[root(id)].contains(id)) {
        return wrong_allocation(at(pc, id) + " is overwritten by another output of the step");
      }
    }
  }
  for (const ValueId id : graph_.outputs) {
    if (!holds_[root(id)].contains(id))
      return wrong_allocation(name(id) + " is lost before the end");
  }
  return Status::ok_status();
}

Status AllocationCheck::check_reads(uint32_t pc) const {
  const Step& step = plan_.steps[pc];
  for (uint32_t slot = 0; slot < step.inputs.size(); ++slot) {
    const ValueId id = step.inputs[slot];
    if (id == kNoValue) continue;
    if (allocation_.values[id].location !=
        place_of(graph_.values[id].type, traits_[pc], true, slot)) {
      return wrong_allocation(at(pc, id) + " is read in a location other than its own");
    }
  }
  for (const ValueId id : step.implicit_inputs) {
    if (allocation_.values[id].location != 0) {
      return wrong_allocation(at(pc, id) + " is read by a body but not in host memory");
    }
  }
  for (const auto* list : {&plan_.steps[pc].inputs, &plan_.steps[pc].implicit_inputs}) {
    for (const ValueId id : *list) {
      if (id == kNoValue) continue;
      const auto held = holds_.find(root(id));
      if (held == holds_.end() || !held->second.contains(id)) {
        return wrong_allocation(at(pc, id) + " is read after its bytes were overwritten");
      }
    }
  }
  return Status::ok_status();
}

Status AllocationCheck::write(uint32_t pc, uint32_t slot) {
  const ValueId output = plan_.steps[pc].outputs[slot];
  std::set<ValueId>& held = holds_[root(output)];
  const SlotPart* const part = output_part(pc, slot);
  ValueId viewed = partner(pc, slot, traits_[pc].aliases);
  if (viewed != kNoValue && is_in_input_part(pc, slot, viewed) && !contains(viewed, output)) {
    viewed = kNoValue;
  }
  if (part != nullptr || viewed != kNoValue) {
    EPHOST_RETURN_IF_ERROR(part != nullptr ? check_output_part(pc, *part)
                                           : check_view(pc, slot, viewed));
    held.insert(output);
    return Status::ok_status();
  }
  ValueId input = partner(pc, slot, traits_[pc].may_inplace);
  if (input != kNoValue && is_in_input_part(pc, slot, input)) input = kNoValue;
  EPHOST_RETURN_IF_ERROR(input != kNoValue ? check_in_place(pc, slot, input)
                                           : check_fresh(pc, slot));
  std::erase_if(held, [&](ValueId id) {
    return overlap(id, output) && (input != kNoValue || !is_in_input_part(pc, slot, id));
  });
  held.insert(output);
  return Status::ok_status();
}

Status AllocationCheck::check_view(uint32_t pc, uint32_t slot, ValueId input) const {
  const ValueId output = plan_.steps[pc].outputs[slot];
  if (!holds_.at(root(output)).contains(input)) {
    return wrong_allocation(
        formatted("{} is a view of {}, which was overwritten", at(pc, output), name(input)));
  }
  const std::optional<uint64_t>& in = allocation_.values[input].bytes;
  const std::optional<uint64_t>& out = allocation_.values[output].bytes;
  if (in && out && *in != *out)
    return wrong_allocation(at(pc, output) + " is a view of another size");
  return Status::ok_status();
}

Status AllocationCheck::check_in_place(uint32_t pc, uint32_t slot, ValueId input) const {
  const ValueId output = plan_.steps[pc].outputs[slot];
  if (is_read_only(root(output)))
    return wrong_allocation(at(pc, output) + " overwrites read-only memory");
  if (!same_size(graph_.values[input].type, graph_.values[output].type)) {
    return wrong_allocation(at(pc, output) + " is written over a value of another size");
  }
  for (const ValueId id : holds_.at(root(output))) {
    if (overlap(id, output) && is_needed_after(id, pc)) {
      return wrong_allocation(
          formatted("{} overwrites {}, which is needed later", at(pc, output), name(id)));
    }
  }
  size_t reads = 0;
  for (const auto* list : {&plan_.steps[pc].inputs, &plan_.steps[pc].implicit_inputs}) {
    reads += static_cast<size_t>(std::ranges::count_if(
        *list, [&](ValueId id) { return id != kNoValue && overlap(id, output); }));
  }
  if (reads > 1)
    return wrong_allocation(at(pc, output) +
                            " overwrites a value that another slot of the step reads");
  return Status::ok_status();
}

Status AllocationCheck::check_output_part(uint32_t pc, const SlotPart& part) const {
  const ValueId input = plan_.steps[pc].inputs[part.input];
  const ValueId output = plan_.steps[pc].outputs[part.output];
  if (!holds_.at(root(output)).contains(input)) {
    return wrong_allocation(
        formatted("{} is a part of {}, which was overwritten", at(pc, output), name(input)));
  }
  return Status::ok_status();
}

Status AllocationCheck::check_fresh(uint32_t pc, uint32_t slot) const {
  const ValueId output = plan_.steps[pc].outputs[slot];
  const ValueId owner = root(output);
  if (is_read_only(owner)) return wrong_allocation(at(pc, output) + " overwrites read-only memory");
  for (const ValueId id : holds_.at(owner)) {
    if (!overlap(id, output) || is_in_input_part(pc, slot, id)) continue;
    if (uses_[id].last >= pc || uses_[id].is_output) {
      return wrong_allocation(
          formatted("{} overwrites {}, which is still needed", at(pc, output), name(id)));
    }
  }
  const std::optional<uint64_t>& need = allocation_.values[output].bytes;
  const std::optional<uint64_t>& room = allocation_.values[owner].bytes;
  const bool fits = need && room && *need <= *room;
  if (output != owner && !fits &&
      !same_size(graph_.values[output].type, graph_.values[owner].type)) {
    return wrong_allocation(
        formatted("{} may not fit the buffer of {}", at(pc, output), name(owner)));
  }
  return Status::ok_status();
}

ValueId AllocationCheck::partner(uint32_t pc, uint32_t slot,
                                 std::span<const SlotPair> pairs) const {
  const Step& step = plan_.steps[pc];
  for (const SlotPair pair : pairs) {
    if (pair.output != slot || pair.input >= step.inputs.size()) continue;
    const ValueId input = step.inputs[pair.input];
    const ValuePlan& output = allocation_.values[step.outputs[slot]];
    if (input != kNoValue && root(input) == output.reused &&
        allocation_.values[input].offset == output.offset) {
      return input;
    }
  }
  return kNoValue;
}

const SlotPart* AllocationCheck::output_part(uint32_t pc, uint32_t slot) const {
  const Step& step = plan_.steps[pc];
  for (const SlotPart& part : traits_[pc].output_parts) {
    if (part.output != slot || part.input >= step.inputs.size()) continue;
    const ValueId input = step.inputs[part.input];
    const ValueId output = step.outputs[slot];
    if (input != kNoValue && has_place(part, output, input) && contains(input, output)) {
      return &part;
    }
  }
  return nullptr;
}

bool AllocationCheck::is_in_input_part(uint32_t pc, uint32_t slot, ValueId id) const {
  const Step& step = plan_.steps[pc];
  const ValueId output = step.outputs[slot];
  return std::ranges::any_of(traits_[pc].input_parts, [&](const SlotPart& part) {
    if (part.output != slot || part.input >= step.inputs.size()) return false;
    const ValueId input = step.inputs[part.input];
    return input != kNoValue && has_place(part, input, output) && contains(output, input) &&
           contains(input, id) && holds_.at(root(output)).contains(input);
  });
}

bool AllocationCheck::has_place(const SlotPart& part, ValueId inner, ValueId outer) const {
  const ValuePlan& a = allocation_.values[inner];
  const ValuePlan& b = allocation_.values[outer];
  return a.reused == b.reused && a.offset >= b.offset && a.offset - b.offset == part.offset;
}

// A value of unknown size may be anywhere in its buffer.
bool AllocationCheck::overlap(ValueId a, ValueId b) const {
  const ValuePlan& first = allocation_.values[a];
  const ValuePlan& second = allocation_.values[b];
  if (first.reused != second.reused) return false;
  if (!first.bytes || !second.bytes || first.offset == second.offset) return true;
  return first.offset < second.offset ? second.offset - first.offset < *first.bytes
                                      : first.offset - second.offset < *second.bytes;
}

bool AllocationCheck::contains(ValueId outer, ValueId inner) const {
  const ValuePlan& a = allocation_.values[outer];
  const ValuePlan& b = allocation_.values[inner];
  return a.reused == b.reused && a.bytes && b.bytes && a.offset <= b.offset &&
         b.offset - a.offset <= *a.bytes && *b.bytes <= *a.bytes - (b.offset - a.offset);
}

bool AllocationCheck::is_read_only(ValueId id) const {
  const AllocKind kind = allocation_.values[id].kind;
  return kind == AllocKind::kPreExisting || kind == AllocKind::kAllocateStatically;
}

std::string AllocationCheck::name(ValueId id) const {
  return "value " + quote(graph_.values[id].name);
}

std::string AllocationCheck::at(uint32_t pc, ValueId id) const {
  return formatted("at step {} {}", pc, name(id));
}

}  // namespace

Status check_allocation(const Graph& graph, const ExecutionPlan& plan,
                        std::span<const StepTraits> traits, const AllocationPlan& allocation) {
  return AllocationCheck(graph, plan, traits, allocation).run();
}

}  // namespace ephost::plan
