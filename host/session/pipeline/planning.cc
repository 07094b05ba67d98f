#include "host/session/pipeline/planning.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/plan/check/checker.h"
#include "host/plan/order/memory_order.h"
#include "host/plan/streams/copy_order.h"
#include "host/session/pipeline/stream_planning.h"

namespace ephost::session {
namespace {

void release_constants(graph::Graph& graph, const partition::Partitioning& partitioning) {
  std::vector<bool> needed(graph.values.size(), true);
  const std::vector<partition::Partition>& partitions = partitioning.partitions;
  for (const partition::Partition& partition : partitions) {
    if (!partition.drop_constants) continue;
    for (const graph::ValueId id : partition.constants) needed[id] = false;
  }
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const uint32_t owner = partitioning.partition_of[id];
    if (owner != partition::kNoPartition && partitions[owner].drop_constants) continue;
    for (const graph::ValueId input : graph.nodes[id].inputs) {
      if (input != graph::kNoValue) needed[input] = true;
    }
    for (const graph::ValueId input : graph.nodes[id].implicit_inputs) needed[input] = true;
  }
  for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
    const graph::Value& value = graph.values[id];
    if (needed[id] || !value.is_constant() || value.is_graph_output) continue;
    graph.initializers[value.initializer].data = {};
    graph.initializers[value.initializer].strings = nullptr;
  }
}

// Priorities by node, from the model's metadata; empty if there are none. Text that is not a number
// is ignored.
std::vector<int64_t> read_priorities(const graph::Model& model, const graph::Graph& graph) {
  constexpr std::string_view kPrefix = "ephost.priority.";
  std::map<std::string_view, int64_t> by_name;
  for (const auto& [key, text] : model.metadata) {
    if (!key.starts_with(kPrefix)) continue;
    int64_t priority = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, priority).ptr != end) continue;
    by_name[std::string_view(key).substr(kPrefix.size())] = priority;
  }
  std::vector<int64_t> priorities;
  if (by_name.empty()) return priorities;
  for (const graph::Node& node : graph.nodes) {
    const auto found = by_name.find(node.name);
    priorities.push_back(found == by_name.end() ? 0 : found->second);
  }
  return priorities;
}

// Which locations share their addresses.
void find_served(PreparedModel& model) {
  for (uint32_t i = 0; i < model.locations.size(); ++i) {
    const bridge::DeviceMemory& wanted = model.devices[i].memory;
    for (uint32_t j = 0; j < model.locations.size(); ++j) {
      const bridge::DeviceMemory& other = model.devices[j].memory;
      if (i == j || !(wanted == other || wanted.info().is_served_by(other.info()))) continue;
      model.locations[i].served_by.push_back(j + 1);
    }
  }
}

// The memories of all providers, in the order of the providers.
void number_locations(PreparedModel& model) {
  model.locations.clear();
  model.devices.clear();
  std::map<const bridge::Device*, uint32_t> owners;
  std::map<std::string, uint32_t> groups;  // of peers
  for (const std::shared_ptr<bridge::Provider>& provider : model.providers) {
    uint32_t number = 0;
    for (const bridge::DeviceMemory& memory : provider->memories()) {
      const std::string& name = memory.info().name;
      const std::string& short_name = provider->short_name();
      const auto next_owner = static_cast<uint32_t>(owners.size());
      const uint32_t owner = owners.emplace(memory.device.get(), next_owner).first->second;
      plan::Location location{name == short_name ? name : short_name + ":" + name, owner};
      const std::string& peers = memory.info().peers;
      if (!peers.empty()) {
        location.peers =
            groups.emplace(peers, static_cast<uint32_t>(groups.size()) + 1).first->second;
      }
      model.locations.push_back(std::move(location));
      model.devices.push_back({memory, ++number});
      if (model.budgets == nullptr) continue;
      model.devices.back().memory.budget = model.budgets->budget_of(memory);
    }
  }
  find_served(model);
}

// Whether a computation takes values in memories of other providers: not where its arguments are
// copied for it (runtime/frame/slots).
bool takes_foreign(const bridge::Computation& computation) {
  return computation.must_share().empty() &&
         computation.host_alignment() <= plan::kDefaultAlignment;
}

// The locations of a computation of a provider without devices: host memory, and what the host can
// read and write itself.
plan::StepLocations host_locations(const PreparedModel& model,
                                   const bridge::Computation& computation) {
  plan::StepLocations located;
  for (uint32_t i = 0; i < model.devices.size() && takes_foreign(computation); ++i) {
    const bridge::MemoryInfo& info = model.devices[i].memory.info();
    if (!info.is_host_readable) continue;
    located.accepted_inputs.push_back(i + 1);
    if (info.is_host_writable) located.accepted_outputs.push_back(i + 1);
  }
  return located;
}

// The traits of a computation, with locations in place of its provider's memory numbers. Constants
// that it does not read stay where they are.
plan::StepLocations locations_of(const graph::Graph& graph, const plan::Step& step,
                                 const bridge::ComputationMemory& memory, uint32_t first_location) {
  const auto location = [&](uint32_t number) {
    return number == bridge::kHostMemory ? plan::kHostLocation : first_location + number - 1;
  };
  plan::StepLocations located;
  located.location = location(memory.memory);
  for (const uint32_t slot : memory.unread_inputs) {
    const graph::ValueId id = slot < step.inputs.size() ? step.inputs[slot] : graph::kNoValue;
    if (id == graph::kNoValue || !graph.values[id].is_constant()) continue;
    located.inputs.push_back({slot, plan::kHostLocation});
  }
  for (const bridge::SlotMemory& slot : memory.inputs) {
    located.inputs.push_back({slot.slot, location(slot.memory)});
  }
  for (const bridge::SlotMemory& slot : memory.outputs) {
    located.outputs.push_back({slot.slot, location(slot.memory)});
  }
  for (const uint32_t number : memory.accepted) {
    located.accepted_inputs.push_back(location(number));
  }
  located.accepted_outputs = located.accepted_inputs;
  return located;
}

// Adds copy steps to a graph whose steps use a device.
Status place_copies(PreparedModel& model, PreparedGraph& prepared) {
  std::map<uint32_t, uint32_t> first_location;  // by provider
  uint32_t next = 1;
  for (uint32_t i = 0; i < model.providers.size(); ++i) {
    const auto count = static_cast<uint32_t>(model.providers[i]->memories().size());
    if (count != 0) first_location[i] = next;
    next += count;
  }
  const std::vector<plan::Step>& steps = prepared.execution.steps;
  const auto is_on_device = [&](const plan::Step& step) {
    return first_location.contains(step.provider);
  };
  if (std::ranges::none_of(steps, is_on_device)) return Status::ok_status();
  std::vector<plan::StepLocations>& locations = prepared.step_locations;
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::optional<bridge::Computation>& computation = prepared.computations[i];
    plan::StepLocations& located = locations.emplace_back();
    if (!computation) continue;
    if (!is_on_device(steps[i])) {
      located = host_locations(model, *computation);
      continue;
    }
    located = locations_of(model.graph_of(prepared), steps[i], computation->memory(),
                           first_location[steps[i].provider]);
    located.is_served = takes_foreign(*computation);
  }
  plan::use_accepted_locations(model.graph_of(prepared), prepared.execution, model.locations,
                               locations);
  const auto host = static_cast<uint32_t>(model.providers.size());
  EPHOST_ASSIGN_OR_RETURN(const std::vector<uint32_t> origins,
                          plan::place_copies({model.graph_of(prepared), prepared.partitioning,
                                              prepared.execution, locations},
                                             model.locations, host));
  if (origins.empty()) return Status::ok_status();
  std::vector<std::string>& owners = prepared.partitioning.providers;
  if (owners.size() == host) owners.emplace_back("host");
  std::vector<std::optional<bridge::Computation>> computations(origins.size());
  for (size_t i = 0; i < origins.size(); ++i) {
    if (origins[i] != plan::kNoStep) {
      computations[i] = std::move(prepared.computations[origins[i]]);
    }
  }
  prepared.computations = std::move(computations);
  return Status::ok_status();
}

std::vector<plan::StepTraits> traits_of(const PreparedGraph& prepared,
                                        const std::vector<uint64_t>& alignments) {
  std::vector<plan::StepTraits> traits;
  traits.reserve(prepared.computations.size());
  for (const std::optional<bridge::Computation>& computation : prepared.computations) {
    traits.push_back(computation ? computation->traits() : plan::StepTraits());
  }
  for (size_t i = 0; i < prepared.step_locations.size(); ++i) {
    const plan::StepLocations& located = prepared.step_locations[i];
    traits[i].location = located.location;
    traits[i].input_locations = located.inputs;
    traits[i].output_locations = located.outputs;
  }
  // Parts of values may be aligned to less than a memory, or a reader of the part, requires.
  const auto is_coarse = [&](const plan::SlotLocation& slot) {
    return slot.location < alignments.size() && alignments[slot.location] > plan::kPartAlignment;
  };
  for (plan::StepTraits& step : traits) {
    if (is_coarse({0, step.location}) || std::ranges::any_of(step.input_locations, is_coarse) ||
        std::ranges::any_of(step.output_locations, is_coarse)) {
      step.input_parts = {};
      step.output_parts = {};
    }
  }
  return traits;
}

void reorder(PreparedGraph& prepared, std::span<const uint32_t> order) {
  std::vector<plan::Step> steps;
  std::vector<std::optional<bridge::Computation>> computations;
  std::vector<plan::StepLocations> locations;
  steps.reserve(order.size());
  computations.reserve(order.size());
  for (const uint32_t step : order) {
    steps.push_back(std::move(prepared.execution.steps[step]));
    computations.push_back(std::move(prepared.computations[step]));
    if (!prepared.step_locations.empty()) {
      locations.push_back(std::move(prepared.step_locations[step]));
    }
  }
  std::vector<plan::StepQueue> queues;
  if (!prepared.streams.queues.empty()) {
    for (const uint32_t step : order) queues.push_back(prepared.streams.queues[step]);
  }
  prepared.execution.steps = std::move(steps);
  prepared.computations = std::move(computations);
  prepared.step_locations = std::move(locations);
  prepared.streams.queues = std::move(queues);
}

// May change the order of the steps as well, to save memory.
Status allocate(const graph::Graph& graph, const plan::AllocationOptions& options, StepOrder order,
                const std::vector<uint64_t>& alignments, const Cancellation& cancellation,
                PreparedGraph& prepared) {
  const std::vector<plan::StepTraits> traits = traits_of(prepared, alignments);
  if (order == StepOrder::kDefault || order == StepOrder::kPriority) {
    EPHOST_ASSIGN_OR_RETURN(prepared.allocation,
                            plan::plan_allocation(graph, prepared.execution, traits, options));
    return Status::ok_status();
  }
  EPHOST_ASSIGN_OR_RETURN(
      plan::MemoryOrder found,
      plan::order_for_memory(graph, prepared.execution, traits,
                             {options, order == StepOrder::kMemory, cancellation}));
  prepared.allocation = std::move(found.allocation);
  prepared.order_rule = found.rule;
  prepared.order_bytes = found.bytes;
  prepared.given_order_bytes = found.given_bytes;
  if (!std::ranges::is_sorted(found.order)) reorder(prepared, found.order);
  return Status::ok_status();
}

// Lets copies on streams overlap with computations.
Status overlap_copies(const graph::Graph& graph, const plan::AllocationOptions& options,
                      const std::vector<uint64_t>& alignments, PreparedGraph& prepared) {
  if (prepared.streams.queues.empty()) return Status::ok_status();
  const std::vector<uint32_t> order =
      plan::order_copies(prepared.execution, prepared.streams.queues);
  if (std::ranges::is_sorted(order)) return Status::ok_status();
  reorder(prepared, order);
  EPHOST_ASSIGN_OR_RETURN(
      prepared.allocation,
      plan::plan_allocation(graph, prepared.execution, traits_of(prepared, alignments), options));
  return Status::ok_status();
}

Status plan_graph(const graph::Graph& graph, const GivenOptions& options,
                  const plan::AllocationOptions& allocation_options, StepOrder order,
                  const std::vector<uint64_t>& alignments, const Cancellation& cancellation,
                  PreparedGraph& prepared) {
  EPHOST_RETURN_IF_ERROR(
      allocate(graph, allocation_options, order, alignments, cancellation, prepared));
  EPHOST_RETURN_IF_ERROR(overlap_copies(graph, allocation_options, alignments, prepared));
  EPHOST_RETURN_IF_ERROR(assign_streams(prepared));
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  plan::MemoryOptions memory_options;
  memory_options.enable_mem_pattern = options.mem_pattern;
  memory_options.alignments = alignments;
  memory_options.step_groups = plan::memory_groups(prepared.streams.assignment);
  EPHOST_ASSIGN_OR_RETURN(prepared.pattern,
                          plan::plan_memory(prepared.allocation, {}, memory_options));
#ifndef NDEBUG
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  EPHOST_RETURN_IF_ERROR(plan::check_execution(graph, prepared.partitioning, prepared.execution));
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  EPHOST_RETURN_IF_ERROR(plan::check_allocation(
      graph, prepared.execution, traits_of(prepared, alignments), prepared.allocation));
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  EPHOST_RETURN_IF_ERROR(plan::check_memory(prepared.allocation, prepared.pattern));
  EPHOST_RETURN_IF_ERROR(plan::check_alignment(graph, prepared.execution,
                                               traits_of(prepared, alignments), prepared.allocation,
                                               prepared.pattern));
#endif
  return Status::ok_status();
}

}  // namespace

std::vector<uint64_t> alignments_of(const PreparedModel& model, const PreparedGraph& prepared) {
  uint64_t host = plan::kDefaultAlignment;
  for (const std::optional<bridge::Computation>& computation : prepared.computations) {
    if (computation) host = std::max(host, computation->host_alignment());
  }
  std::vector<uint64_t> alignments = {host};
  for (const runtime::DeviceLocation& device : model.devices) {
    alignments.push_back(device.memory.info().alignment);
  }
  return alignments;
}

Status order_steps(PreparedModel& model, StepOrder order) {
  for (PreparedGraph* prepared : model.graphs()) {
    const graph::Graph& graph = model.graph_of(*prepared);
    plan::ExecutionOptions options;
    std::vector<int64_t> priorities;
    if (order == StepOrder::kPriority) {
      priorities = read_priorities(model.model, graph);
      options = {plan::ExecutionOrder::kPriority, priorities};
    }
    EPHOST_RETURN_IF_ERROR(model.cancellation.check());
    EPHOST_ASSIGN_OR_RETURN(prepared->execution,
                            plan::plan_execution(graph, prepared->partitioning, options));
#ifndef NDEBUG
    EPHOST_RETURN_IF_ERROR(
        plan::check_execution(graph, prepared->partitioning, prepared->execution));
#endif
  }
  return Status::ok_status();
}

void release_dropped_constants(PreparedModel& model) {
  for (PreparedGraph* prepared : model.graphs()) {
    release_constants(model.graph_of(*prepared), prepared->partitioning);
  }
}

Status plan_memory(PreparedModel& model, const GivenOptions& options, StepOrder order) {
  const plan::AllocationOptions allocation_options = {options.mem_reuse, options.mem_pattern};
  EPHOST_RETURN_IF_ERROR(check_native_queues(model));
  number_locations(model);
  for (PreparedGraph* prepared : model.graphs()) {
    const std::vector<uint64_t> alignments = alignments_of(model, *prepared);
    if (!model.devices.empty()) EPHOST_RETURN_IF_ERROR(place_copies(model, *prepared));
    find_queues(model, *prepared);
    EPHOST_RETURN_IF_ERROR(plan_graph(model.graph_of(*prepared), options, allocation_options, order,
                                      alignments, model.cancellation, *prepared));
    EPHOST_RETURN_IF_ERROR(plan_streams(*prepared));
  }
  return Status::ok_status();
}

}  // namespace ephost::session
