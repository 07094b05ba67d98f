#include <algorithm>
#include <set>

#include "host/plan/copies.h"

namespace ephost::plan {
namespace {

bool is_listed(std::span<const SlotLocation> listed, uint32_t slot) {
  return std::ranges::find(listed, slot, &SlotLocation::slot) != listed.end();
}

// Values other than tensors of numbers are always in host memory.
bool may_move(const Graph& graph, ValueId id) {
  constexpr uint32_t kElsewhere = kHostLocation + 1;
  return location_of(graph.values[id].type, kElsewhere, {}, 0) == kElsewhere;
}

// Where a value is needed: in any one of these locations.
using Choices = std::vector<uint32_t>;

class LocationChooser {
 public:
  LocationChooser(const Graph& graph, const ExecutionPlan& plan,
                  std::span<const Location> locations, std::vector<StepLocations>& steps)
      : graph_(graph),
        plan_(plan),
        locations_(locations),
        steps_(steps),
        home_(graph.values.size(), kHostLocation),
        needs_(graph.values.size()) {}

  void run() {
    find_needs();
    for (size_t step = 0; step < steps_.size(); ++step) choose_outputs(step);
    for (size_t step = 0; step < steps_.size(); ++step) choose_inputs(step);
  }

 private:
  // The locations that serve for an input, the one that it gets by default first.
  [[nodiscard]] Choices choices_of(size_t step, uint32_t slot, ValueId id) const {
    const StepLocations& where = steps_[step];
    const uint32_t wanted = location_of(graph_.values[id].type, where.location, where.inputs, slot);
    Choices choices = {wanted};
    if (!may_move(graph_, id)) return choices;
    if (!is_listed(where.inputs, slot)) {
      choices.insert(choices.end(), where.accepted_inputs.begin(), where.accepted_inputs.end());
    }
    if (where.is_served && wanted != kHostLocation) {
      const std::vector<uint32_t>& others = locations_[wanted - 1].served_by;
      choices.insert(choices.end(), others.begin(), others.end());
    }
    return choices;
  }

  void find_needs() {
    for (size_t step = 0; step < steps_.size(); ++step) {
      const std::vector<ValueId>& inputs = plan_.steps[step].inputs;
      for (uint32_t slot = 0; slot < inputs.size(); ++slot) {
        const ValueId id = inputs[slot];
        if (id != kNoValue) needs_[id].push_back(choices_of(step, slot, id));
      }
      for (const ValueId id : plan_.steps[step].implicit_inputs) {
        needs_[id].push_back({kHostLocation});
      }
    }
    for (const ValueId id : graph_.outputs) needs_[id].push_back({kHostLocation});
  }

  // How many locations the value is copied to if it is produced in this one.
  [[nodiscard]] size_t copies_from(uint32_t location, ValueId id) const {
    std::set<uint32_t> targets;
    for (const Choices& choices : needs_[id]) {
      if (std::ranges::find(choices, location) == choices.end()) targets.insert(choices.front());
    }
    return targets.size();
  }

  void choose_outputs(size_t step) {
    StepLocations& where = steps_[step];
    const std::vector<ValueId>& outputs = plan_.steps[step].outputs;
    for (uint32_t slot = 0; slot < outputs.size(); ++slot) {
      const ValueId id = outputs[slot];
      if (id == kNoValue) continue;
      uint32_t best = location_of(graph_.values[id].type, where.location, where.outputs, slot);
      if (may_move(graph_, id) && !is_listed(where.outputs, slot)) {
        size_t fewest = copies_from(best, id);
        const uint32_t given = best;
        for (const uint32_t accepted : where.accepted_outputs) {
          const size_t copies = copies_from(accepted, id);
          if (copies >= fewest) continue;
          fewest = copies;
          best = accepted;
        }
        if (best != given) where.outputs.push_back({slot, best});
      }
      home_[id] = best;
    }
  }

  void choose_inputs(size_t step) {
    StepLocations& where = steps_[step];
    const std::vector<ValueId>& inputs = plan_.steps[step].inputs;
    for (uint32_t slot = 0; slot < inputs.size(); ++slot) {
      const ValueId id = inputs[slot];
      if (id == kNoValue) continue;
      const Choices choices = choices_of(step, slot, id);
      const bool saves =
          home_[id] != choices.front() && std::ranges::find(choices, home_[id]) != choices.end();
      if (!saves) continue;
      std::erase_if(where.inputs, [&](const SlotLocation& listed) { return listed.slot == slot; });
      where.inputs.push_back({slot, home_[id]});
    }
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const Location> locations_;
  std::vector<StepLocations>& steps_;
  std::vector<uint32_t> home_;               // by value: where it is produced
  std::vector<std::vector<Choices>> needs_;  // by value: of each of its readers
};

}  // namespace

void use_accepted_locations(const Graph& graph, const ExecutionPlan& plan,
                            std::span<const Location> locations,
                            std::vector<StepLocations>& steps) {
  const auto accepts_any = [](const StepLocations& step) {
    return step.is_served || !step.accepted_inputs.empty() || !step.accepted_outputs.empty();
  };
  if (std::ranges::none_of(steps, accepts_any)) return;
  LocationChooser(graph, plan, locations, steps).run();
}

}  // namespace ephost::plan
