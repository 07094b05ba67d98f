// The stage that changes the nodes that the CPU provider runs one by one, once every provider has
// compiled what it claimed: groups of quantised nodes, and products of integers with their scaling,
// become one operator, and what was kept for the providers' sake although it depends on constants
// only is folded for the CPU provider. Context models are written before, from the graph that the
// providers saw.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <vector>

#include "host/bridge/provider.h"
#include "host/graph/graph.h"
#include "host/optimize/constant_folding.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"
#include "host/session/pipeline/compilation.h"
#include "host/session/pipeline/graph_optimizer.h"

namespace ephost::session {

class CpuRefinement {
 public:
  // Borrows all.
  CpuRefinement(PreparedModel& prepared, const SessionConfig& config, GraphOptimizer& optimizer,
                MadeComputations& made);

  // Whether there is a node that `run` could change. Cheap.
  [[nodiscard]] bool may_change() const;

  // Call only if `may_change`. Returns whether anything changed. Then the computations of all
  // graphs are in `made`, except those of nodes that changed; the steps are to be ordered and the
  // computations to be made again.
  [[nodiscard]] Result<bool> run();

 private:
  // What happened to one graph; ids are those before nodes are removed.
  struct Change {
    PreparedGraph* prepared = nullptr;
    std::vector<bool> is_touched;  // by node: its kernel is not valid any more
    bool has_any = false;
  };

  [[nodiscard]] bool forms_operators() const;
  [[nodiscard]] bool is_free(const PreparedGraph& prepared, graph::NodeId node) const;
  Result<Change> change(PreparedGraph& prepared);
  void form_operators(Change& change, bridge::Provider& cpu);
  Status fold(Change& change, bridge::Provider& cpu);
  void apply(Change& change);

  PreparedModel& prepared_;
  const SessionConfig& config_;
  GraphOptimizer& optimizer_;
  MadeComputations& made_;
  uint32_t cpu_ = 0;  // index of the CPU provider, or the number of providers if there is none
};

}  // namespace ephost::session
