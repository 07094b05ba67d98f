#include "host/runtime/device_ends.h"

#include <algorithm>
#include <cstddef>

#include "host/plan/copies.h"

namespace ephost::runtime {
namespace {

using graph::kNoValue;
using graph::ValueId;

// The steps that use a value, as far as it matters here.
struct Uses {
  size_t count = 0;
  const plan::Step* copy = nullptr;  // the last one that copies it, or makes it by copying
};

class EndFinder {
 public:
  EndFinder(const graph::Graph& graph, const plan::ExecutionPlan& execution,
            const plan::AllocationPlan& allocation)
      : graph_(graph), allocation_(allocation), uses_(graph.values.size()) {
    for (const plan::Step& step : execution.steps) {
      const bool is_copy = plan::is_copy(graph.nodes[step.node]);
      for (const auto* ids : {&step.inputs, &step.implicit_inputs, &step.outputs}) {
        for (const ValueId id : *ids) {
          if (id == kNoValue) continue;
          ++uses_[id].count;
          if (is_copy) uses_[id].copy = &step;
        }
      }
    }
  }

  [[nodiscard]] DeviceEnds find() const {
    DeviceEnds ends;
    for (const ValueId id : graph_.inputs) {
      const bool is_passed_on = graph_.values[id].is_graph_output;
      const plan::Step* const copy = is_passed_on ? nullptr : only_copy(id);
      ends.inputs.push_back(copy == nullptr ? DeviceEnd() : end_at(copy->outputs[0]));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId id = graph_.outputs[i];
      const auto first = std::ranges::find(graph_.outputs, id);
      const bool is_made = first == graph_.outputs.begin() + static_cast<ptrdiff_t>(i) &&
                           allocation_.values[id].kind == plan::AllocKind::kAllocateOutput;
      const plan::Step* const copy = is_made ? only_copy(id) : nullptr;
      ends.outputs.push_back(copy == nullptr ? DeviceEnd() : end_at(copy->inputs[0]));
    }
    return ends;
  }

 private:
  // Null if anything else uses the value.
  [[nodiscard]] const plan::Step* only_copy(ValueId id) const {
    return uses_[id].count == 1 ? uses_[id].copy : nullptr;
  }
  [[nodiscard]] DeviceEnd end_at(ValueId id) const {
    const std::vector<plan::ValuePlan>& plans = allocation_.values;
    if (plans[id].location == plan::kHostLocation) return {};
    const auto in_buffer = std::ranges::count(plans, id, &plan::ValuePlan::reused);
    return {id, plans[id].kind == plan::AllocKind::kAllocate && in_buffer == 1};
  }

  const graph::Graph& graph_;
  const plan::AllocationPlan& allocation_;
  std::vector<Uses> uses_;  // by value
};

}  // namespace

DeviceEnds find_device_ends(const graph::Graph& graph, const plan::ExecutionPlan& execution,
                            const plan::AllocationPlan& allocation) {
  return EndFinder(graph, execution, allocation).find();
}

}  // namespace ephost::runtime
