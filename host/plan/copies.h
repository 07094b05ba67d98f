// Copies between locations: where a step needs a value in a location other than the one in which it
// is produced, an explicit copy step is inserted. Each value of the graph lies in one location; its
// copy elsewhere is a value of its own, so that all later planning of steps and memory (order,
// sharing, patterns, dependencies) treats copies like any other step.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

// The node that a copy step runs: input and output are the same value in two locations.
inline constexpr std::string_view kCopyDomain = "ephost.memory";
inline constexpr std::string_view kCopyOperator = "Memcpy";
[[nodiscard]] bool is_copy(const graph::Node& node);

struct Location {
  std::string name;    // for messages
  uint32_t owner = 0;  // direct copies are possible between locations of one owner
  uint32_t peers = 0;  // and between those with the same number here; 0: no others
  // The other locations in which values serve for steps that want them here.
  std::vector<uint32_t> served_by = {};
};

// Owns what StepTraits borrow.
struct StepLocations {
  uint32_t location = kHostLocation;
  std::vector<SlotLocation> inputs;
  std::vector<SlotLocation> outputs;
  // Locations that serve as well for inputs and outputs that are not listed.
  std::vector<uint32_t> accepted_inputs = {};
  std::vector<uint32_t> accepted_outputs = {};
  // Whether inputs may lie wherever `served_by` of the location that they are wanted in says.
  bool is_served = false;
};

// Lists slots in locations that serve as well, where that saves copies: an output in the one that
// leaves the fewest copies to its readers, and an input where its value is produced. To be called
// before place_copies, with one entry in `steps` for each step of `plan`.
void use_accepted_locations(const Graph& graph, const ExecutionPlan& plan,
                            std::span<const Location> locations, std::vector<StepLocations>& steps);

struct CopyTargets {
  Graph& graph;
  partition::Partitioning& partitioning;
  ExecutionPlan& plan;
  std::vector<StepLocations>& steps;  // by step of `plan`
};

// Inserts copies where they are needed: one for each value and location, shared by all its readers
// there, directly before the first reader, or after the step that produces a graph output outside
// host memory. Between locations of different owners that are not peers a value passes through host
// memory. Graph
// inputs and outputs, values that bodies read, and values that are not numeric tensors are in host
// memory. A constant needs no step: a second value has the same initializer and the other location.
//
// A value that is ever in host memory keeps its id there; otherwise it keeps its id in the location
// where it is produced. New values and the nodes of copies come after those of the graph; only
// steps refer to new values, and the other nodes do not change. `locations` are those besides host
// memory, numbered from 1; `host` is the provider index of copy steps. Returns for each step its
// previous index, kNoStep for copies. Returns nothing, and changes nothing, if no copy is needed.
[[nodiscard]] Result<std::vector<uint32_t>> place_copies(const CopyTargets& targets,
                                                         std::span<const Location> locations,
                                                         uint32_t host);

}  // namespace ephost::plan
