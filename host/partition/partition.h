// Partitioning: from what providers claim to who owns each node. Pure data in, data out; it knows
// claims, not plugins (host/bridge turns a provider's capabilities into a ClaimSource) and decides
// nothing about order or memory (host/plan). Called by the session once for each graph of a model.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"
#include "host/graph/graph.h"

namespace ephost::partition {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

// "No provider" in owner lists.
inline constexpr uint32_t kUnassigned = std::numeric_limits<uint32_t>::max();
// "Not part of a fused partition".
inline constexpr uint32_t kNoPartition = std::numeric_limits<uint32_t>::max();

// What a provider wants: one node it has a kernel for, or a set of nodes to compile as one.
struct Claim {
  std::vector<NodeId> nodes;  // any order; exactly one if not fused
  bool fused = false;
  std::string name;             // suggested partition name; may be empty
  bool drop_constants = false;  // the constants it reads may be released after compilation
};

// A provider as the partitioner sees it. Answers are not trusted: ids are checked, bad claims
// dropped.
class ClaimSource {
 public:
  virtual ~ClaimSource() = default;

  // Full name, e.g. "CPUExecutionProvider"; constant while the source lives.
  [[nodiscard]] virtual std::string_view provider_name() const = 0;
  // Short name, e.g. "cpu": the stem of generated partition names.
  [[nodiscard]] virtual std::string_view short_name() const { return provider_name(); }

  // Claims in the provider's order of preference. `owner[node]` is the index of the provider that
  // already took the node, or kUnassigned. A failure skips the provider.
  [[nodiscard]] virtual Result<std::vector<Claim>> claims(const Graph& graph,
                                                          std::span<const uint32_t> owner) = 0;
  // True if a kernel for this node exists; asked for single-node claims only.
  [[nodiscard]] virtual bool has_kernel(const Graph& graph, NodeId node) = 0;
};

// A fused claim that was accepted.
struct Partition {
  uint32_t provider = kUnassigned;
  std::string name;           // unique in the model, prefix included
  std::vector<NodeId> nodes;  // ascending, which is a topological order
  // Values that come from outside, constants apart, in the order of first use by `nodes`; what its
  // nodes' subgraphs read counts. Each once.
  std::vector<ValueId> inputs;
  // Values that a node outside or the caller of the graph reads, in the order of production.
  std::vector<ValueId> outputs;
  // Constants its nodes read, in the order of first use. Each once.
  std::vector<ValueId> constants;
  bool drop_constants = false;
};

// What became of one claim. A provider that could not be asked has one refused decision without
// nodes.
struct Decision {
  uint32_t provider = kUnassigned;
  std::vector<NodeId> nodes;  // as claimed, ids that don't exist included
  bool fused = false;
  bool accepted = false;
  uint32_t partition = kNoPartition;  // index of the partition that an accepted fused claim became
  std::string reason;                 // why it was refused; empty if accepted
};

// Who runs what. Indices of providers are positions in `providers`.
struct Partitioning {
  std::vector<std::string> providers;  // full names, in the order asked
  std::vector<uint32_t> owner;         // per node: provider, or kUnassigned
  std::vector<uint32_t> partition_of;  // per node: partition, or kNoPartition
  std::vector<Partition> partitions;   // in the order accepted
  std::vector<Decision> decisions;     // every claim, in the order decided
};

// Nodes that a provider cannot have, because it failed at them before: a claim that names one of
// them is refused.
struct Bar {
  uint32_t provider = kUnassigned;
  std::vector<NodeId> nodes;
  std::string reason;
};

struct PartitionOptions {
  std::string name_prefix;  // ep.context_node_name_prefix
  // Names that the other graphs of the model already use.
  std::span<const std::string> taken_names;
  // A fused claim that is refused for a bar uses up its name all the same, so that the partitions
  // after it keep theirs.
  std::span<const Bar> bars;
  // Asked before each provider and each claim.
  Cancellation cancellation = {};
};

// Asks the providers in order, first come first served, as ONNX Runtime does. A single-node claim
// is placed if the node is free and the provider has a kernel for it. A fused claim is accepted if
// its ids are valid and distinct, no node is taken, and the graph in which every accepted partition
// stands for one node stays acyclic; otherwise the whole claim is dropped, alone, with its reason,
// and later claims may have its nodes. Nodes may be left without owner: see check_cover.
//
// `graph` is topologically sorted and connected (producers and consumers recorded). Partition names
// are `prefix + suggested name`, or `prefix + short name + "_" + n`; a name that is taken gets a
// number. The cost of a fused claim is bounded by its edges and by what lies between its first and
// last node and depends on it or feeds it.
// INVALID_ARGUMENT if `graph` is not topologically sorted; MODEL_LOAD_CANCELED once that is
// requested.
[[nodiscard]] Result<Partitioning> partition_graph(const Graph& graph,
                                                   std::span<ClaimSource* const> sources,
                                                   const PartitionOptions& options = {});

// NOT_IMPLEMENTED if a node has no owner, naming operator, domain, version and node of the first
// few, the number of further ones, and the providers asked.
[[nodiscard]] Status check_cover(const Graph& graph, const Partitioning& partitioning);

}  // namespace ephost::partition
