// The results of the pipeline for one graph: the model's own, or a body of a control-flow node that
// the host runs itself. Bodies are prepared like the main graph, each with its own plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/computation.h"
#include "host/bridge/provider.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"
#include "host/partition/partition.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/copies.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"
#include "host/runtime/program_streams.h"

namespace ephost::session {

struct PreparedGraph {
  // The graph of a body, which does not move with the model; null for the model's own graph (see
  // PreparedModel::graph_of).
  graph::Graph* graph = nullptr;
  std::string attribute;  // of the node that holds the body, e.g. "then_branch"
  // The body's name in messages and reports (graph/body_path.h); empty for the model's own graph.
  std::string path;
  std::vector<context::SubgraphStep> place;  // from the model's own graph inwards

  partition::Partitioning partitioning;
  std::vector<std::vector<bridge::Decline>> declines;  // by provider
  plan::ExecutionPlan execution;
  // By step of `execution`; empty for steps that the host runs itself.
  std::vector<std::optional<bridge::Computation>> computations;
  // By step; empty if all values are in host memory.
  std::vector<plan::StepLocations> step_locations;
  // The rule that found the order of `execution`, and the peak memory of that order and of the
  // model's own, in bytes.
  std::string_view order_rule;
  uint64_t order_bytes = 0;
  uint64_t given_order_bytes = 0;
  plan::AllocationPlan allocation;
  plan::MemoryPattern pattern;
  runtime::ProgramStreams streams;
  // The bodies of nodes that the host runs, in the order of the nodes and of their attributes.
  std::vector<PreparedGraph> bodies;

  // The node of the enclosing graph that has this body as an attribute.
  [[nodiscard]] graph::NodeId node() const {
    return place.empty() ? graph::kNoNode : place.back().node;
  }
};

}  // namespace ephost::session
