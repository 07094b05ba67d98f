// The explanation of a partitioning: which provider took which node, into which partition, and
// which claims were refused and why. Plain data for the report of host/session; the commands render
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"

namespace ephost::partition {

struct ExplainedNode {
  NodeId node = graph::kNoNode;
  std::string name;  // may be empty
  std::string op;    // "Conv", or "com.microsoft.FusedConv" outside ai.onnx
  int32_t since_version = 0;
  std::string provider;            // empty: no provider took it
  std::string partition;           // empty: run by a single kernel
  std::vector<uint32_t> refusals;  // indices into Explanation::refusals, ascending
};

struct ProviderSummary {
  std::string name;
  uint64_t kernel_nodes = 0;  // nodes taken one by one
  uint64_t fused_nodes = 0;   // nodes in partitions
  uint64_t partitions = 0;
  uint64_t refused_claims = 0;
};

struct Refusal {
  std::string provider;
  std::vector<NodeId> nodes;  // valid ids only, ascending, unique
  bool fused = false;
  std::string reason;
};

struct Explanation {
  std::string graph_name;
  std::vector<ProviderSummary> providers;  // in the order asked
  std::vector<ExplainedNode> nodes;        // one for each node of the graph
  std::vector<Refusal> refusals;           // in the order decided
  uint64_t unassigned_nodes = 0;
};

[[nodiscard]] Explanation explain(const Graph& graph, const Partitioning& partitioning);

}  // namespace ephost::partition
