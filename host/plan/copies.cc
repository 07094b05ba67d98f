#include "host/plan/copies.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plan {
namespace {

constexpr uint32_t kHostOwner = 0xffffffff;

class CopyPlacer {
 public:
  CopyPlacer(const CopyTargets& targets, std::span<const Location> locations, uint32_t host)
      : graph_(targets.graph),
        partitioning_(targets.partitioning),
        plan_(targets.plan),
        steps_(targets.steps),
        locations_(locations),
        host_(host),
        home_(graph_.values.size(), kHostLocation) {}

  Result<std::vector<uint32_t>> run() && {
    EPHOST_RETURN_IF_ERROR(find_homes());
    find_needs();
    if (needs_.empty()) return std::vector<uint32_t>();
    name_values();
    rewrite();
    return std::move(origins_);
  }

 private:
  using Placed = std::pair<ValueId, uint32_t>;  // a value and a location

  [[nodiscard]] uint32_t owner(uint32_t location) const {
    return location == kHostLocation ? kHostOwner : locations_[location - 1].owner;
  }
  [[nodiscard]] bool is_constant(ValueId id) const { return graph_.values[id].is_constant(); }
  [[nodiscard]] uint32_t wanted(size_t step, size_t slot) const {
    return location_of(graph_.values[plan_.steps[step].inputs[slot]].type, steps_[step].location,
                       steps_[step].inputs, static_cast<uint32_t>(slot));
  }

  Status find_homes() {
    if (steps_.size() != plan_.steps.size()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("cannot place copies: there are {} steps but locations of {}",
                              plan_.steps.size(), steps_.size()));
    }
    for (size_t step = 0; step < steps_.size(); ++step) {
      const StepLocations& where = steps_[step];
      const auto exists = [&](uint32_t location) { return location <= locations_.size(); };
      const auto is_sound = [&](const SlotLocation& slot) { return exists(slot.location); };
      if (!exists(where.location) || !std::ranges::all_of(where.inputs, is_sound) ||
          !std::ranges::all_of(where.outputs, is_sound)) {
        return Status(
            StatusCode::kInvalidArgument,
            formatted("cannot place copies: step {} has values in a location that does not exist",
                      step));
      }
      const std::vector<ValueId>& outputs = plan_.steps[step].outputs;
      for (size_t slot = 0; slot < outputs.size(); ++slot) {
        if (outputs[slot] == kNoValue) continue;
        home_[outputs[slot]] = location_of(graph_.values[outputs[slot]].type, where.location,
                                           where.outputs, static_cast<uint32_t>(slot));
      }
    }
    return Status::ok_status();
  }

  void find_needs() {
    for (size_t step = 0; step < steps_.size(); ++step) {
      const std::vector<ValueId>& inputs = plan_.steps[step].inputs;
      for (size_t slot = 0; slot < inputs.size(); ++slot) {
        if (inputs[slot] != kNoValue) need(inputs[slot], wanted(step, slot));
      }
      for (const ValueId id : plan_.steps[step].implicit_inputs) need(id, kHostLocation);
    }
    for (const ValueId id : graph_.outputs) need(id, kHostLocation);
  }
  void need(ValueId id, uint32_t location) {
    if (location == home_[id]) return;
    needs_.insert({id, location});
    if (passes_through_host(id, location)) needs_.insert({id, kHostLocation});
  }
  [[nodiscard]] bool passes_through_host(ValueId id, uint32_t location) const {
    if (location == kHostLocation || home_[id] == kHostLocation) return false;
    const uint32_t peers = locations_[location - 1].peers;
    return owner(location) != owner(home_[id]) &&
           (peers == 0 || peers != locations_[home_[id] - 1].peers);
  }

  void name_values() {
    for (const auto& [id, location] : needs_) {
      const uint32_t elsewhere = location == kHostLocation ? home_[id] : location;
      const graph::Value& value = graph_.values[id];
      graph::Value copied;
      copied.name = value.name + "@" + locations_[elsewhere - 1].name;
      copied.type = value.type;
      if (value.is_constant()) copied.initializer = value.initializer;
      // The node of a copy is set when its step is created.
      if (location == kHostLocation) copied.producer = value.producer;
      ids_[{id, elsewhere}] = graph_.add_value(std::move(copied));
    }
  }
  [[nodiscard]] ValueId id_at(ValueId id, uint32_t location) const {
    const auto found = ids_.find({id, location});
    return found == ids_.end() ? id : found->second;
  }

  void rewrite() {
    std::vector<Step> steps = std::exchange(plan_.steps, {});
    std::vector<StepLocations> where = std::exchange(steps_, {});
    for (uint32_t i = 0; i < steps.size(); ++i) {
      Step& step = steps[i];
      for (uint32_t slot = 0; slot < step.inputs.size(); ++slot) {
        ValueId& id = step.inputs[slot];
        if (id == kNoValue) continue;
        const uint32_t location =
            location_of(graph_.values[id].type, where[i].location, where[i].inputs, slot);
        bring(id, location);
        id = id_at(id, location);
      }
      for (const ValueId id : step.implicit_inputs) bring(id, kHostLocation);
      const std::vector<ValueId> made = step.outputs;
      for (ValueId& id : step.outputs) {
        if (id != kNoValue) id = id_at(id, home_[id]);
      }
      plan_.steps.push_back(std::move(step));
      steps_.push_back(std::move(where[i]));
      origins_.push_back(i);
      for (const ValueId id : made) {
        if (id != kNoValue && graph_.values[id].is_graph_output) bring(id, kHostLocation);
      }
    }
  }

  // Ensures that the value is in the location from here on.
  void bring(ValueId id, uint32_t location) {
    if (location == home_[id] || is_constant(id) || !is_there_.insert({id, location}).second) {
      return;
    }
    uint32_t from = home_[id];
    if (passes_through_host(id, location)) {
      bring(id, kHostLocation);
      from = kHostLocation;
    }
    add_copy(id, from, location);
  }
  void add_copy(ValueId id, uint32_t from, uint32_t to) {
    graph::Node node;
    node.op_type = kCopyOperator;
    node.domain = kCopyDomain;
    node.since_version = 1;
    node.name = graph_.values[id].name + " to " +
                (to == kHostLocation ? std::string("host") : locations_[to - 1].name);
    node.inputs = {id_at(id, from)};
    node.outputs = {id_at(id, to)};
    Step step;
    step.provider = host_;
    step.inputs = node.inputs;
    step.outputs = node.outputs;
    step.node = graph_.add_node(std::move(node));
    if (to != kHostLocation) graph_.values[step.outputs[0]].producer = step.node;
    partitioning_.owner.push_back(host_);
    partitioning_.partition_of.push_back(kNoPartition);
    plan_.steps.push_back(std::move(step));
    steps_.push_back({to, {{0, from}}, {}});
    origins_.push_back(kNoStep);
  }

  Graph& graph_;
  partition::Partitioning& partitioning_;
  ExecutionPlan& plan_;
  std::vector<StepLocations>& steps_;
  std::span<const Location> locations_;
  uint32_t host_;
  std::vector<uint32_t> home_;     // by value: where it is produced
  std::set<Placed> needs_;         // where else it is needed
  std::map<Placed, ValueId> ids_;  // of values with a new id in a location
  std::set<Placed> is_there_;      // present so far, while steps are rewritten
  std::vector<uint32_t> origins_;
};

}  // namespace

bool is_copy(const graph::Node& node) {
  return node.domain == kCopyDomain && node.op_type == kCopyOperator;
}

Result<std::vector<uint32_t>> place_copies(const CopyTargets& targets,
                                           std::span<const Location> locations, uint32_t host) {
  return CopyPlacer(targets, locations, host).run();
}

}  // namespace ephost::plan
