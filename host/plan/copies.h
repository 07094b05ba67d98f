// Copies between locations: where steps want their values in memory that differs from the one these
// come to be in, explicit copy steps are put between. Each value of the graph lies in one location;
// what a value is elsewhere is a value of its own, so that everything that plans steps and memory
// afterwards (order, sharing, patterns, dependencies) knows copies as steps like any other.
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
  std::string name;    // for people
  uint32_t owner = 0;  // bytes go straight from one location to another only if both have one owner
};

// Owns what StepTraits borrow.
struct StepLocations {
  uint32_t location = kHostLocation;
  std::vector<SlotLocation> inputs;
  std::vector<SlotLocation> outputs;
};

struct CopyTargets {
  Graph& graph;
  partition::Partitioning& partitioning;
  ExecutionPlan& plan;
  std::vector<StepLocations>& steps;  // by step of `plan`
};

inline constexpr uint32_t kNoStep = 0xffffffff;

// Puts copies where they are needed: one for each value and location, shared by all who read it
// there, right before the first of them, or behind the step that makes a graph output elsewhere
// than in host memory. Between locations of different owners a value goes by way of host memory. In
// host memory are graph inputs and outputs, what bodies read, and what is no tensor of numbers. A
// constant needs no step: a second value has the same initializer, and the other location.
//
// A value keeps its id in host memory if it is ever there, and in the location where it is made
// otherwise. New values and the nodes of copies stand behind those of the graph; only steps refer
// to new values, the other nodes stay as they are. `locations` are those beside host memory, 1 and
// up; `host` is the provider index of copy steps. Returns for each step which one it was, kNoStep
// for copies; nothing where there is nothing to copy, and then nothing has changed.
[[nodiscard]] Result<std::vector<uint32_t>> place_copies(const CopyTargets& targets,
                                                         std::span<const Location> locations,
                                                         uint32_t host);

}  // namespace ephost::plan
