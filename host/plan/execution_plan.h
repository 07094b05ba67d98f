// The execution plan: the order of the steps. A step is one node run by a kernel, or one fused
// partition run by code that its provider compiled. Reads a graph and its partitioning; decides
// nothing about memory (allocation_plan.h).
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

inline constexpr uint32_t kNoStep = UINT32_MAX;

struct Step {
  uint32_t provider = 0;
  NodeId node = graph::kNoNode;       // for a partition: its first node
  uint32_t partition = kNoPartition;  // index into Partitioning::partitions
  // For a node: its own lists, including constants, with kNoValue where an optional value is
  // omitted. For a partition: Partition::inputs and outputs; its constants were passed to the
  // compilation.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // Values that a node's subgraphs read. Empty for a partition, whose inputs include them.
  std::vector<ValueId> implicit_inputs;
};

// A step's index is its program counter.
struct ExecutionPlan {
  std::vector<Step> steps;
};

enum class ExecutionOrder : uint8_t {
  kDefault,  // topological, by node index: file order as far as partitions permit
  // Among the ready steps: first Shape and Size nodes, which release what they read, then by
  // priority (lowest number first), then by node index. ONNX Runtime's priority-based order.
  kPriority,
};

struct ExecutionOptions {
  ExecutionOrder order = ExecutionOrder::kDefault;
  // By node; a partition has the lowest number among its nodes. Empty: all are 0. Only for
  // kPriority.
  std::span<const int64_t> priorities;
};

// Returns INVALID_ARGUMENT if a node has no owner, if the partitioning does not match the graph, or
// if its partitions depend on each other.
[[nodiscard]] Result<ExecutionPlan> plan_execution(const Graph& graph,
                                                   const partition::Partitioning& partitioning,
                                                   const ExecutionOptions& options = {});

}  // namespace ephost::plan
