#include "host/runtime/shared_ends.h"

#include <algorithm>

namespace ephost::runtime {
namespace {

using graph::kNoValue;
using graph::ValueId;

class SharedEndFinder {
 public:
  SharedEndFinder(const graph::Graph& graph, const plan::ExecutionPlan& execution,
                  const plan::AllocationPlan& allocation, const DeviceEnds& ends)
      : graph_(graph),
        execution_(execution),
        values_(allocation.values),
        ends_(ends),
        uses_(graph.values.size()) {
    for (const plan::Step& step : execution.steps) {
      for (const auto* ids : {&step.inputs, &step.implicit_inputs}) {
        for (const ValueId id : *ids) {
          if (id != kNoValue) ++uses_[id];
        }
      }
    }
  }

  [[nodiscard]] std::optional<SharedEnd> find(size_t step, plan::SlotPair pair) const {
    const plan::Step& planned = execution_.steps[step];
    if (pair.input >= planned.inputs.size() || pair.output >= planned.outputs.size()) return {};
    const ValueId input = planned.inputs[pair.input];
    const ValueId output = planned.outputs[pair.output];
    if (input == kNoValue || output == kNoValue || uses_[input] != 1) return {};
    if (const auto on_device = find_on_device(input, output)) return on_device;
    const auto from = std::ranges::find(graph_.inputs, input);
    const auto to = std::ranges::find(graph_.outputs, output);
    const bool is_end = from != graph_.inputs.end() && to != graph_.outputs.end() &&
                        !graph_.values[input].is_graph_output &&
                        values_[output].kind == plan::AllocKind::kAllocateOutput;
    if (!is_end || !is_alone(input) || !is_alone(output)) return {};
    return SharedEnd{static_cast<size_t>(from - graph_.inputs.begin()),
                     static_cast<size_t>(to - graph_.outputs.begin()), false};
  }

 private:
  [[nodiscard]] std::optional<SharedEnd> find_on_device(ValueId input, ValueId output) const {
    const auto find_end = [](const std::vector<DeviceEnd>& ends, ValueId id) {
      const auto found = std::ranges::find(ends, id, &DeviceEnd::on_device);
      return found != ends.end() && found->is_alone ? std::optional(found - ends.begin())
                                                    : std::nullopt;
    };
    const auto from = find_end(ends_.inputs, input);
    const auto to = find_end(ends_.outputs, output);
    if (!from || !to) return {};
    return SharedEnd{static_cast<size_t>(*from), static_cast<size_t>(*to), true};
  }
  // Whether nothing else lies in the value's buffer.
  [[nodiscard]] bool is_alone(ValueId id) const {
    return std::ranges::count(values_, id, &plan::ValuePlan::reused) == 1;
  }

  const graph::Graph& graph_;
  const plan::ExecutionPlan& execution_;
  const std::vector<plan::ValuePlan>& values_;
  const DeviceEnds& ends_;
  std::vector<size_t> uses_;  // by value: slots of steps that read it
};

}  // namespace

std::vector<SharedEnd> find_shared_ends(
    const graph::Graph& graph, const plan::ExecutionPlan& execution,
    const plan::AllocationPlan& allocation,
    std::span<const std::optional<bridge::Computation>> computations, const DeviceEnds& ends) {
  std::vector<SharedEnd> shared;
  const auto has_pairs = [](const std::optional<bridge::Computation>& computation) {
    return computation && !computation->must_share().empty();
  };
  if (std::ranges::none_of(computations, has_pairs)) return shared;
  const SharedEndFinder finder(graph, execution, allocation, ends);
  for (size_t step = 0; step < computations.size(); ++step) {
    if (!has_pairs(computations[step])) continue;
    for (const plan::SlotPair pair : computations[step]->must_share()) {
      if (const auto found = finder.find(step, pair)) shared.push_back(*found);
    }
  }
  return shared;
}

}  // namespace ephost::runtime
