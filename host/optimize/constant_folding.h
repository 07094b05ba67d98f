// Computes at load time what does not depend on inputs: `Constant` nodes, shapes that are static,
// and nodes whose inputs are all constant. The pass owns the decision what to fold; computing is
// the caller's (the session lends the CPU provider's kernels).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/graph/graph.h"
#include "host/optimize/fold_budget.h"

namespace ephost::optimize {

// What one evaluation may use.
struct EvaluationLimit {
  uint64_t max_output_bytes = UINT64_MAX;  // of all outputs together, as `stored_bytes` counts
  Cancellation cancellation;
  // Set by the evaluator where it gave up because the outputs would be larger.
  bool is_exceeded = false;
};

// Computes single nodes with constant inputs.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  // Cheap: whether `evaluate` is worth a try.
  [[nodiscard]] virtual bool can_evaluate(const graph::Graph& graph, graph::NodeId node) const = 0;
  // One tensor for each output of the node, in order; the entry of an output that is left out is
  // ignored. Every input of the node is constant or left out. Outputs that would exceed the limit
  // are not allocated.
  virtual Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph, graph::NodeId node,
                                                      EvaluationLimit& limit) = 0;
};

struct FoldOptions {
  // A node whose outputs would be larger stays, unless they are no larger than its inputs, of which
  // each counts once.
  uint64_t max_output_bytes = uint64_t{64} << 20;
  // Off: only `Constant` nodes become initializers, which no part of the host does without.
  bool computes = true;
  // Off: of what is dead afterwards only folded nodes go.
  bool removes_dead_code = true;
  Cancellation cancellation;
};

struct FoldReport {
  uint64_t folded_nodes = 0;         // all, `Constant` nodes included
  uint64_t folded_bytes = 0;         // size of the constants that were made
  std::vector<std::string> skipped;  // nodes left alone because evaluation failed, with the reason
  uint64_t over_budget = 0;          // nodes left alone because the budget was too small for them
  std::string budget_note;           // which, why, and what to raise; empty if there are none
};

// Folds in `graph` and all subgraphs, and removes what is dead afterwards (see FoldOptions).
// `Constant` nodes, and `Shape` and `Size` of values with static shapes, need no evaluator. What a
// subgraph captures of the constants around it becomes a constant of its own, sharing the data. A
// graph output may end up as a constant without producer.
//
// Left alone are nodes that are random or train, nodes with subgraphs, nodes of other domains than
// ai.onnx (who knows what they do), and those whose evaluation fails or yields what contradicts the
// types in the graph. So are nodes that the budget is too small for, which is no error: others that
// it suffices for are folded. The graph must be connected and sorted, and stays so.
//
// `budget` is the model's, the same for each of its calls. A constant that no node needs any more
// is released at once. MODEL_LOAD_CANCELED once that is requested; the graph is of no use then.
[[nodiscard]] Result<FoldReport> fold_constants(graph::Graph& graph, Evaluator& evaluator,
                                                FoldBudget& budget,
                                                const FoldOptions& options = {});

}  // namespace ephost::optimize
