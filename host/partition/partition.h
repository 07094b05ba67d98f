// Partitioning: from the claims of providers to the owner of each node. Pure data in, data out: it
// knows claims, not plugins (host/bridge turns a provider's capabilities into a ClaimSource), and
// decides nothing about order or memory (host/plan). The session calls it once for each graph of a
// model.
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

// What a provider offers to run: one node for which it has a kernel, or a set of nodes to compile
// as one.
struct Claim {
  std::vector<NodeId> nodes;  // any order; exactly one if not fused
  bool fused = false;
  std::string name;             // suggested partition name; may be empty
  bool drop_constants = false;  // its constants may be released after compilation
  uint64_t token = 0;           // the provider's own, for the partition
};

// A provider as the partitioner sees it. Its answers are untrusted: ids are checked, and invalid
// claims dropped.
class ClaimSource {
 public:
  virtual ~ClaimSource() = default;

  // The full name, e.g. "CPUExecutionProvider"; constant while the source lives.
  [[nodiscard]] virtual std::string_view provider_name() const = 0;
  // The short name, e.g. "cpu": the stem of generated partition names.
  [[nodiscard]] virtual std::string_view short_name() const { return provider_name(); }

  // Returns claims in the provider's order of preference. `owner[node]` is the index of the
  // provider that already took the node, or kUnassigned. A failure skips the provider.
  [[nodiscard]] virtual Result<std::vector<Claim>> claims(const Graph& graph,
                                                          std::span<const uint32_t> owner) = 0;
  // Whether a kernel for this node exists; queried for single-node claims only.
  [[nodiscard]] virtual bool has_kernel(const Graph& graph, NodeId node) = 0;
};

// An accepted fused claim.
struct Partition {
  uint32_t provider = kUnassigned;
  std::string name;           // including the prefix; unique in the model
  std::vector<NodeId> nodes;  // ascending, which is a topological order
  // Values from outside, except constants, in the order of first use by `nodes`, including what
  // their subgraphs read. Without duplicates.
  std::vector<ValueId> inputs;
  // Values that a node outside or the caller of the graph reads, in the order of production.
  std::vector<ValueId> outputs;
  // Constants that its nodes read, in the order of first use, without duplicates.
  std::vector<ValueId> constants;
  bool drop_constants = false;
  uint64_t token = 0;  // of its claim
};

// The outcome of one claim. A provider whose claims could not be queried has one refused decision
// without nodes.
struct Decision {
  uint32_t provider = kUnassigned;
  std::vector<NodeId> nodes;  // as claimed, including invalid ids
  bool fused = false;
  bool accepted = false;
  uint32_t partition = kNoPartition;  // the partition of an accepted fused claim
  std::string reason;                 // why it was refused; empty if accepted
};

// The owner of each node. Provider indices are positions in `providers`.
struct Partitioning {
  std::vector<std::string> providers;  // full names, in the order asked
  std::vector<uint32_t> owner;         // per node: provider, or kUnassigned
  std::vector<uint32_t> partition_of;  // per node: partition, or kNoPartition
  std::vector<Partition> partitions;   // in the order accepted
  std::vector<Decision> decisions;     // every claim, in the order decided
};

// Nodes that a provider must not get again because it failed to compile or run them before: a claim
// that names one of them is refused.
struct Exclusion {
  uint32_t provider = kUnassigned;
  std::vector<NodeId> nodes;
  std::string reason;
};

struct PartitionOptions {
  std::string name_prefix;  // ep.context_node_name_prefix
  // Names that the other graphs of the model already use.
  std::span<const std::string> taken_names;
  // A fused claim that is refused because of an exclusion still uses up its name, so that later
  // partitions keep theirs.
  std::span<const Exclusion> exclusions;
  // Polled before each provider and each claim.
  Cancellation cancellation = {};
};

// Asks the providers in order of priority, as ONNX Runtime does: a node belongs to the first
// provider whose claim on it is accepted. A single-node claim is accepted if the node is free and
// the provider has a kernel for it. A fused claim is accepted if its ids are valid and distinct,
// all its nodes are free, and the graph in which every accepted partition is one node stays
// acyclic. Otherwise the whole claim is dropped with its reason; other claims are not affected, and
// later ones may have its nodes. Nodes may remain without an owner: see check_cover.
//
// `graph` is topologically sorted and connected (producers and consumers recorded). Partition names
// are `prefix + suggested name`, or `prefix + short name + "_" + n`; a name that is taken gets a
// number. The cost of a fused claim is bounded by its edges and by the nodes between its first and
// last node that depend on it or feed it.
//
// Returns INVALID_ARGUMENT if `graph` is not topologically sorted, and CANCELLED or
// DEADLINE_EXCEEDED once cancellation is requested.
[[nodiscard]] Result<Partitioning> partition_graph(const Graph& graph,
                                                   std::span<ClaimSource* const> sources,
                                                   const PartitionOptions& options = {});

// Returns NOT_IMPLEMENTED if a node has no owner, naming operator, domain, version and node of the
// first few, the number of further ones, and the providers that were asked.
[[nodiscard]] Status check_cover(const Graph& graph, const Partitioning& partitioning);

}  // namespace ephost::partition
