// The execution plan: which step runs when. A step is one node run by a kernel, or one fused
// partition run by what its provider compiled. Reads a graph and its partitioning; decides nothing
// about memory (allocation_plan.h).
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"

namespace ephost::plan {

using graph::Graph;
using graph::kNoValue;
using graph::NodeId;
using graph::ValueId;
using partition::kNoPartition;

struct Step {
  uint32_t provider = 0;
  NodeId node = graph::kNoNode;       // of a partition: its first node
  uint32_t partition = kNoPartition;  // index into Partitioning::partitions
  // Of a node: as the node has them, kNoValue where an optional one is left out, constants
  // included. Of a partition: Partition::inputs and outputs; its constants belong to what was
  // compiled.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // What a node's subgraphs read. Empty for a partition, whose inputs contain these.
  std::vector<ValueId> implicit_inputs;
};

// A step's index is its program counter.
struct ExecutionPlan {
  std::vector<Step> steps;
};

enum class ExecutionOrder : uint8_t {
  kDefault,  // topological, the smallest node index first: file order as far as partitions permit
  // Of the steps that are ready: those of Shape and Size nodes, which free what they read, then the
  // lowest priority, then the smallest node index. ONNX Runtime's priority-based order.
  kPriority,
};

struct ExecutionOptions {
  ExecutionOrder order = ExecutionOrder::kDefault;
  // By node; a partition has the lowest of its nodes. Empty: all are 0. Only for kPriority.
  std::span<const int64_t> priorities;
};

// INVALID_ARGUMENT if a node has no owner, if the partitioning doesn't fit the graph, or if its
// partitions depend on each other.
[[nodiscard]] Result<ExecutionPlan> plan_execution(const Graph& graph,
                                                   const partition::Partitioning& partitioning,
                                                   const ExecutionOptions& options = {});

}  // namespace ephost::plan
