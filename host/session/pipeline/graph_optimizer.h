// Simplifies a model before the providers see it: folds constants, removes dead code and nodes
// without effect. Called by the pipeline.
#pragma once

#include <ephost/status.h>

#include "host/optimize/fold_budget.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

class GraphOptimizer {
 public:
  explicit GraphOptimizer(const SessionConfig& config)
      : config_(config), budget_(config.fold_limits) {}

  // Runs all configured passes until none changes anything more. May be called again after the
  // graph has changed; all calls share one budget. Does nothing in a session without CPU provider,
  // whose model has nothing but EPContext nodes.
  [[nodiscard]] Status run(PreparedModel& prepared);

  // Folds what was kept for the providers' sake and then claimed by none of them but the CPU
  // provider, where others read it: they would get it computed in each run, and not as a constant.
  // Call it once, when all nodes have owners. Returns whether anything changed; then the model is
  // to be partitioned again.
  [[nodiscard]] Result<bool> fold_unclaimed(PreparedModel& prepared);

  // Whether the node was not folded for the sake of the providers.
  [[nodiscard]] bool keeps(const PreparedModel& prepared, const graph::Node& node) const;
  // What is left of the limits.
  [[nodiscard]] optimize::FoldBudget& budget() { return budget_; }

  // Logs and notes which nodes were left to the runs. Called once for PreparedModel::folding, after
  // the last `run`: what an earlier one leaves may still be folded.
  static void report_unfolded(PreparedModel& prepared, const optimize::FoldReport& folding);

 private:
  const SessionConfig& config_;
  optimize::FoldBudget budget_;
};

}  // namespace ephost::session
