// Explains a partitioning: which provider took each node, in which partition, and which claims were
// refused and why. Plain data for `ephost partition --explain` and its JSON output (built in
// host/cli), and renderers that return whole documents as strings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

// A table for terminals, one line per node, followed by a summary and the refused claims.
[[nodiscard]] std::string to_text(const Explanation& explanation);

// A Graphviz digraph: one box per node, one colour per provider, one cluster per partition. `name`
// defaults to the name of the graph.
[[nodiscard]] std::string to_dot(const Graph& graph, const Partitioning& partitioning,
                                 std::string_view name = {});

// One HTML page without external resources. The bodies of control flow nodes follow the main graph,
// each under its `graph_name`.
[[nodiscard]] std::string to_html(const Explanation& explanation,
                                  std::span<const Explanation> bodies = {});

}  // namespace ephost::partition
