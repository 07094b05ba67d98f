// An evaluator of single nodes with constant inputs by a provider's kernels, for constant folding.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <vector>

#include "host/bridge/graph_view.h"
#include "host/bridge/provider.h"
#include "host/graph/graph.h"
#include "host/optimize/constant_folding.h"

namespace ephost::runtime {

// Borrows both; used by one thread at a time.
class KernelEvaluator : public optimize::Evaluator {
 public:
  KernelEvaluator(bridge::Provider& provider, const graph::Model& model)
      : provider_(provider), model_(std::make_shared<const bridge::ModelView>(model)) {}

  [[nodiscard]] bool can_evaluate(const graph::Graph& graph, graph::NodeId node) const override;
  Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph, graph::NodeId node,
                                              optimize::EvaluationLimit& limit) override;

 private:
  bridge::Provider& provider_;
  std::shared_ptr<const bridge::ModelView> model_;
};

}  // namespace ephost::runtime
