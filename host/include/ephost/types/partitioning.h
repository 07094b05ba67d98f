// The partitioning of a model among providers: which provider takes which node, and why another one
// does not.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ephost {

struct PartitionedNode {
  uint32_t id = 0;   // its index in GraphPartitioning::nodes
  std::string name;  // may be empty
  std::string op;    // "Conv", or "com.microsoft.FusedConv" outside of ai.onnx
  int32_t since_version = 0;
  std::string description;           // its name in messages, e.g. "Conv node "conv1""
  std::string provider;              // empty: no provider takes it
  std::string partition;             // empty: a kernel for the single node
  std::vector<uint32_t> refusals;    // indices into GraphPartitioning::refused_claims, ascending
  std::vector<uint32_t> successors;  // ids of the nodes that read its outputs, ascending
};

struct PartitionReport {
  std::string name;
  std::string provider;
  std::vector<uint32_t> nodes;  // ids, ascending
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

struct PartitioningSummary {
  std::string provider;
  uint64_t kernel_nodes = 0;  // nodes taken one by one
  uint64_t fused_nodes = 0;   // nodes in partitions
  uint64_t partitions = 0;
  uint64_t refused_claims = 0;
};

// Nodes that a provider claimed and did not get.
struct RefusedClaim {
  std::string provider;
  std::vector<uint32_t> nodes;  // ids, ascending
  bool fused = false;           // as one partition
  std::string reason;
};

// A node that a provider did not claim, with the provider's reason.
struct DeclinedNode {
  std::string provider;
  uint32_t node = 0;
  std::string reason;
};

// The model's own graph, or a body of a control-flow operator that the host runs.
struct GraphPartitioning {
  std::string path;  // of a body; empty for the model's own graph
  std::string name;
  std::vector<PartitioningSummary> providers;  // in priority order
  std::vector<PartitionedNode> nodes;
  std::vector<PartitionReport> partitions;
  std::vector<RefusedClaim> refused_claims;  // in the order of the decisions
  std::vector<DeclinedNode> declined_nodes;  // by provider
  uint64_t unassigned_nodes = 0;
};

// A call of a function of the model that no provider takes, and that its body replaced.
struct InlinedFunction {
  std::string path;  // of the graph that the call was in; empty: the model's own
  std::string call;  // its name in messages
  std::string domain;
  uint64_t nodes = 0;  // of the body
};

// An operator of the model that a plugin defines.
struct PluginOperator {
  std::string op_type;
  std::string domain;
  int32_t since_version = 0;  // of the definition
  std::string provider;       // whose plugin defines it
  uint64_t nodes = 0;         // in all graphs
};

struct ModelPartitioning {
  std::vector<GraphPartitioning> graphs;  // the model's own first, then each body before its own
  bool is_context_model = false;
  uint64_t folded_nodes = 0;
  uint64_t removed_identities = 0;
  std::vector<InlinedFunction> inlined;
  std::vector<PluginOperator> plugin_operators;  // by domain, type and version
  std::vector<std::string> notes;                // of reading and optimizing the model
  // OK if every node has a provider; otherwise the error of a session.
  Status coverage;
};

enum class PartitionStage {
  kClaims,       // ask the providers what they take
  kCompilation,  // compile too, so that nodes which a provider fails to compile go to the next one
};

}  // namespace ephost
