#include "host/plan/sharing/lifetimes.h"

#include <algorithm>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plan {
namespace {

Status plan_misfit(const std::string& what) {
  return {StatusCode::kInvalidArgument,
          formatted("cannot plan memory: {}; plan the graph that the execution plan was made for",
                    what)};
}

// The kind of a value before any step is examined. A step that produces the value replaces kNone.
AllocKind kind_of_source(const graph::Value& value) {
  if (value.is_graph_input || value.outer != kNoValue) return AllocKind::kPreExisting;
  if (value.is_constant()) return AllocKind::kAllocateStatically;
  return AllocKind::kNone;
}

class LifetimeFinder {
 public:
  LifetimeFinder(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits)
      : graph_(graph), plan_(plan), traits_(traits), values_(graph.values.size()) {
    last_step_ = plan.steps.empty() ? 0 : static_cast<uint32_t>(plan.steps.size() - 1);
  }

  [[nodiscard]] Result<std::vector<ValuePlan>> run() &&;

 private:
  [[nodiscard]] Status visit_step(uint32_t pc);
  [[nodiscard]] Status read(ValueId id, uint32_t pc, uint32_t location);
  [[nodiscard]] Status produce(ValueId id, uint32_t pc, uint32_t location);
  [[nodiscard]] uint32_t where(ValueId id, uint32_t location, std::span<const SlotLocation> listed,
                               uint32_t slot) const {
    return id < values_.size() ? location_of(graph_.values[id].type, location, listed, slot)
                               : kHostLocation;
  }
  void begin();
  [[nodiscard]] Status finish();
  [[nodiscard]] std::string at(ValueId id, uint32_t pc) const;

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  std::vector<ValuePlan> values_;
  uint32_t last_step_ = 0;
};

Result<std::vector<ValuePlan>> LifetimeFinder::run() && {
  if (traits_.size() != plan_.steps.size()) {
    return plan_misfit(
        formatted("there are {} steps but traits of {}", plan_.steps.size(), traits_.size()));
  }
  begin();
  for (uint32_t pc = 0; pc < plan_.steps.size(); ++pc) EPHOST_RETURN_IF_ERROR(visit_step(pc));
  EPHOST_RETURN_IF_ERROR(finish());
  return std::move(values_);
}

void LifetimeFinder::begin() {
  for (ValueId id = 0; id < values_.size(); ++id) {
    const graph::Value& value = graph_.values[id];
    values_[id].kind = kind_of_source(value);
    if (value.type.kind == graph::ValueKind::kTensor && value.type.shape) {
      values_[id].bytes = graph::byte_size(value.type.element, *value.type.shape);
    }
  }
}

Status LifetimeFinder::visit_step(uint32_t pc) {
  const Step& step = plan_.steps[pc];
  const StepTraits& traits = traits_[pc];
  for (uint32_t slot = 0; slot < step.inputs.size(); ++slot) {
    const ValueId id = step.inputs[slot];
    EPHOST_RETURN_IF_ERROR(read(id, pc, where(id, traits.location, traits.input_locations, slot)));
  }
  for (const ValueId id : step.implicit_inputs) {
    EPHOST_RETURN_IF_ERROR(read(id, pc, kHostLocation));
  }
  for (uint32_t slot = 0; slot < step.outputs.size(); ++slot) {
    const ValueId id = step.outputs[slot];
    EPHOST_RETURN_IF_ERROR(
        produce(id, pc, where(id, traits.location, traits.output_locations, slot)));
  }
  return Status::ok_status();
}

Status LifetimeFinder::read(ValueId id, uint32_t pc, uint32_t location) {
  if (id == kNoValue) return Status::ok_status();
  if (id >= values_.size() || values_[id].kind == AllocKind::kNone) {
    return plan_misfit(at(id, pc) + " is read before it exists");
  }
  ValuePlan& value = values_[id];
  // A constant is in the location of its first reader.
  if (value.use_count == 0 && value.kind == AllocKind::kAllocateStatically) {
    value.location = location;
  }
  if (value.location != location) {
    return plan_misfit(formatted("{} is read in location {} but lies in {}", at(id, pc), location,
                                 value.location));
  }
  ++value.use_count;
  value.last_pc = pc;
  return Status::ok_status();
}

Status LifetimeFinder::produce(ValueId id, uint32_t pc, uint32_t location) {
  if (id == kNoValue) return Status::ok_status();
  if (id >= values_.size() || values_[id].kind != AllocKind::kNone) {
    return plan_misfit(at(id, pc) + " is produced but exists already, or not in the graph");
  }
  ValuePlan& value = values_[id];
  value.kind =
      graph_.values[id].is_graph_output ? AllocKind::kAllocateOutput : AllocKind::kAllocate;
  value.location = location;
  value.first_pc = pc;
  value.last_pc = pc;
  return Status::ok_status();
}

Status LifetimeFinder::finish() {
  for (const ValueId id : graph_.outputs) {
    if (id >= values_.size() || values_[id].kind == AllocKind::kNone) {
      return plan_misfit(at(id, last_step_) + " is a graph output that no step produces");
    }
    if (values_[id].location != kHostLocation) {
      return plan_misfit(at(id, last_step_) + " is a graph output outside of host memory");
    }
    ++values_[id].use_count;
    values_[id].last_pc = last_step_;
  }
  for (ValueId id = 0; id < values_.size(); ++id) {
    ValuePlan& value = values_[id];
    const bool may_be_unused =
        value.kind == AllocKind::kAllocateStatically ||
        (value.kind == AllocKind::kPreExisting && !graph_.values[id].is_graph_input);
    if (may_be_unused && value.use_count == 0) value.kind = AllocKind::kNone;
    if (value.kind == AllocKind::kAllocateStatically) value.last_pc = last_step_;
    if (value.kind != AllocKind::kNone) value.reused = id;
  }
  return Status::ok_status();
}

std::string LifetimeFinder::at(ValueId id, uint32_t pc) const {
  const std::string name = id < graph_.values.size() ? quote(graph_.values[id].name) : "(invalid)";
  return formatted("value #{} {} of step {}", id, name, pc);
}

}  // namespace

Result<std::vector<ValuePlan>> find_lifetimes(const Graph& graph, const ExecutionPlan& plan,
                                              std::span<const StepTraits> traits) {
  return LifetimeFinder(graph, plan, traits).run();
}

}  // namespace ephost::plan
