// Constant folding, which computes at load time what does not depend on inputs: `Constant` nodes,
// static shapes, and nodes whose inputs are all constant. The pass decides what to fold; the caller
// provides the computation (the session uses the CPU provider's kernels).
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/graph/graph.h"
#include "host/optimize/fold_budget.h"
#include "host/optimize/passes.h"

namespace ephost::optimize {

// The limits of one evaluation.
struct EvaluationLimit {
  uint64_t max_output_bytes = UINT64_MAX;  // of all outputs together, counted as by `stored_bytes`
  Cancellation cancellation;
  // Set by the evaluator if it gave up because the outputs would be larger.
  bool is_exceeded = false;
};

// Computes single nodes with constant inputs.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  // Whether `evaluate` is worth a try. Cheap.
  [[nodiscard]] virtual bool can_evaluate(const graph::Graph& graph, graph::NodeId node) const = 0;
  // Returns one tensor for each output of the node, in order; the entry of an omitted output is
  // ignored. Every input of the node is constant or omitted. Outputs that would exceed the limit
  // are not allocated.
  virtual Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph, graph::NodeId node,
                                                      EvaluationLimit& limit) = 0;
};

struct FoldOptions {
  // A node with larger outputs is not folded, unless they are no larger than its inputs, each of
  // which counts once.
  uint64_t max_output_bytes = uint64_t{64} << 20;
  // If off, only `Constant` nodes become initializers, which the rest of the host relies on.
  bool computes = true;
  // Nodes that are not folded although they could be, other than `Constant`. May be empty.
  NodePredicate keeps;
  // If off, only folded nodes are removed afterwards.
  bool removes_dead_code = true;
  Cancellation cancellation;
};

struct FoldReport {
  uint64_t folded_nodes = 0;         // including `Constant` nodes
  uint64_t folded_bytes = 0;         // size of the new constants
  std::vector<std::string> skipped;  // nodes whose evaluation failed, with the reason
  uint64_t over_budget = 0;          // nodes for which the budget was too small
  std::string budget_note;           // which nodes, why, and what to raise; may be empty
};

// Whether a node may give another result each time: a random operator, or a Dropout that trains.
[[nodiscard]] bool is_random(const graph::Graph& graph, const graph::Node& node);

// Folds in `graph` and all subgraphs, and removes what is dead afterwards (see FoldOptions).
// `Constant` nodes, and `Shape` and `Size` of values with static shapes, need no evaluator. A
// constant of the enclosing graph that a subgraph captures becomes a constant of the subgraph,
// sharing the data. A graph output may become a constant without a producer.
//
// These nodes are not folded: random and training nodes, nodes with subgraphs, nodes of domains
// other than ai.onnx (whose semantics are unknown), and nodes whose evaluation fails or contradicts
// the types in the graph. A node that exceeds the budget is not folded either, which is not an
// error: others that fit are still folded. The graph must be connected and sorted, and stays so.
//
// All calls for one model share `budget`. A constant that no node needs any more is released at
// once. Returns CANCELLED or DEADLINE_EXCEEDED once cancellation is requested; the graph is then
// unusable.
[[nodiscard]] Result<FoldReport> fold_constants(graph::Graph& graph, Evaluator& evaluator,
                                                FoldBudget& budget,
                                                const FoldOptions& options = {});

// Folds the nodes of one level of the graph that `options.keeps` lets pass, for a graph whose nodes
// others refer to: subgraphs are not entered, and nothing is removed. A folded node has no outputs
// any more, and a constant that is not needed has no data; remove_bare_nodes removes both, and must
// be called. The caller has counted the model's constants in `budget`.
[[nodiscard]] Result<FoldReport> fold_level(graph::Graph& graph, Evaluator& evaluator,
                                            FoldBudget& budget, const FoldOptions& options);

}  // namespace ephost::optimize
