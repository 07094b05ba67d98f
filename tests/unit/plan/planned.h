// A graph with all its plans, for tests of the planners and of the checkers.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/copies.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/partition/fake_source.h"

namespace ephost::plan::testing {

using partition::testing::FakeSource;

// Traits that own their slot pairs.
struct StepNotes {
  std::vector<SlotPair> may_inplace;
  std::vector<SlotPair> aliases;
  uint64_t workspace_bytes = 0;
  uint32_t location = 0;
  std::vector<SlotPart> input_parts;
  std::vector<SlotPart> output_parts;
  std::vector<SlotLocation> input_locations;
  std::vector<SlotLocation> output_locations;
  uint64_t host_alignment = kPartAlignment;
  std::vector<uint32_t> accepted;  // locations that serve as well
  std::vector<SlotPair> must_share;
  bool is_served = false;
};

inline std::vector<StepTraits> to_traits(const std::vector<StepNotes>& notes) {
  std::vector<StepTraits> traits;
  for (const StepNotes& note : notes) {
    traits.push_back({note.may_inplace, note.aliases, note.workspace_bytes, note.location,
                      note.input_parts, note.output_parts, note.input_locations,
                      note.output_locations, note.host_alignment, note.must_share});
  }
  return traits;
}

// Relu may work in place, Add on either input; Reshape is a view.
inline StepNotes notes_of(const std::string& op_type) {
  StepNotes notes;
  if (op_type == "Relu") notes.may_inplace = {{0, 0}};
  if (op_type == "Add") notes.may_inplace = {{0, 0}, {1, 0}};
  if (op_type == "Reshape") notes.aliases = {{0, 0}};
  return notes;
}

struct Planned {
  Graph graph;
  partition::Partitioning partitioning;
  ExecutionPlan execution;
  std::vector<StepNotes> notes;  // by step
  AllocationPlan allocation;

  // Looks up a value by name.
  [[nodiscard]] ValueId id(std::string_view name) const {
    const ValueId found = graph.find_value(name);
    EXPECT_NE(found, kNoValue) << name;
    return found;
  }
  [[nodiscard]] const ValuePlan& value(std::string_view name) const {
    return allocation.values[id(name)];
  }
  // "Reuse a" or "Reuse a + 64"; only the kind if the value has its own buffer or none.
  [[nodiscard]] std::string place(std::string_view name) const {
    const ValuePlan& planned = value(name);
    std::string text(alloc_kind_name(planned.kind));
    if (planned.kind == AllocKind::kReuse) text += " " + graph.values[planned.reused].name;
    if (planned.offset != 0) text += " + " + std::to_string(planned.offset);
    return text;
  }

  // Inserts copies where the notes require them.
  void place_copies(const std::vector<Location>& locations) {
    std::vector<StepLocations> steps;
    for (const StepNotes& note : notes) {
      steps.push_back({note.location, note.input_locations, note.output_locations, note.accepted,
                       note.accepted, note.is_served});
    }
    use_accepted_locations(graph, execution, locations, steps);
    const auto host = static_cast<uint32_t>(partitioning.providers.size());
    const auto origins =
        plan::place_copies({graph, partitioning, execution, steps}, locations, host);
    ASSERT_THAT(origins, test::IsOk());
    if (origins->empty()) {
      for (size_t i = 0; i < steps.size(); ++i) {
        notes[i].input_locations = steps[i].inputs;
        notes[i].output_locations = steps[i].outputs;
      }
      return;
    }
    std::vector<StepNotes> old = std::exchange(notes, {});
    for (size_t i = 0; i < origins->size(); ++i) {
      StepNotes& note = notes.emplace_back();
      if ((*origins)[i] != kNoStep) note = std::move(old[(*origins)[i]]);
      note.location = steps[i].location;
      note.input_locations = steps[i].inputs;
      note.output_locations = steps[i].outputs;
    }
  }

  void allocate(const AllocationOptions& options = {}) {
    const auto traits = to_traits(notes);
    auto result = plan_allocation(graph, execution, traits, options);
    ASSERT_THAT(result, test::IsOk());
    allocation = *std::move(result);
  }
};

// All unclaimed nodes are run by single kernels.
inline Planned plan_graph(Graph graph, std::vector<partition::Claim> claims = {},
                          const AllocationOptions& options = {}) {
  Planned planned;
  planned.graph = std::move(graph);
  FakeSource fusing("Fusing", std::move(claims));
  FakeSource rest = FakeSource::greedy("Rest");
  partition::ClaimSource* const sources[] = {&fusing, &rest};
  planned.partitioning = *partition::partition_graph(planned.graph, sources);
  auto execution = plan_execution(planned.graph, planned.partitioning);
  EXPECT_THAT(execution, test::IsOk());
  planned.execution = *std::move(execution);
  for (const Step& step : planned.execution.steps) {
    const bool is_single = step.partition == kNoPartition;
    planned.notes.push_back(is_single ? notes_of(planned.graph.nodes[step.node].op_type)
                                      : StepNotes());
  }
  planned.allocate(options);
  return planned;
}

}  // namespace ephost::plan::testing
