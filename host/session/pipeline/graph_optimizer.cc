#include "host/session/pipeline/graph_optimizer.h"

#include <algorithm>
#include <utility>

#include "host/base/log.h"
#include "host/optimize/identity_removal.h"
#include "host/optimize/quantization_nodes.h"
#include "host/runtime/evaluator.h"
#include "host/session/pipeline/model/model_reader.h"

namespace ephost::session {
namespace {

bridge::Provider* find_cpu_provider(const PreparedModel& prepared) {
  for (const auto& provider : prepared.providers) {
    if (provider->name() == kCpuProvider) return provider.get();
  }
  return nullptr;
}

// Whether a provider wants nodes with this operator as they are.
bool is_wanted_unchanged(const PreparedModel& prepared, const graph::Node& node) {
  return std::ranges::any_of(prepared.providers,
                             [&](const auto& provider) { return provider->wishes().keeps(node); });
}

void add_report(PreparedModel& prepared, optimize::FoldReport report) {
  report.folded_nodes += prepared.folding.folded_nodes;
  report.folded_bytes += prepared.folding.folded_bytes;
  prepared.folding = std::move(report);
}

}  // namespace

// Folding may fix shapes that were open, and known shapes let more nodes be folded or removed.
Status GraphOptimizer::run(PreparedModel& prepared) {
  constexpr int kMaxRounds = 8;  // bounds models that are built to need ever more rounds
  bridge::Provider* const cpu = find_cpu_provider(prepared);
  if (cpu == nullptr) return Status::ok_status();
  runtime::KernelEvaluator evaluator(*cpu, prepared.model);
  optimize::FoldOptions options;
  options.computes = config_.passes.runs(optimize::Pass::kConstantFolding);
  options.keeps = [&](const graph::Graph& graph, graph::NodeId node) {
    return keeps(prepared, graph.nodes[node]);
  };
  const auto is_wanted = [&](const graph::Graph& graph, graph::NodeId node) {
    return is_wanted_unchanged(prepared, graph.nodes[node]);
  };
  options.removes_dead_code = config_.passes.runs(optimize::Pass::kDeadCodeElimination);
  options.cancellation = prepared.cancellation;
  for (int round = 0; round < kMaxRounds; ++round) {
    EPHOST_ASSIGN_OR_RETURN(
        optimize::FoldReport report,
        optimize::fold_constants(prepared.model.graph, evaluator, budget_, options));
    const uint64_t removed =
        optimize::remove_identities(prepared.model.graph, config_.passes, is_wanted);
    const uint64_t folded = report.folded_nodes;
    prepared.removed_identities += removed;
    add_report(prepared, std::move(report));
    if (folded + removed == 0) break;
    if (folded > 0) EPHOST_RETURN_IF_ERROR(infer_shapes(prepared));
  }
  return Status::ok_status();
}

bool GraphOptimizer::keeps(const PreparedModel& prepared, const graph::Node& node) const {
  return (!config_.disable_quant_qdq && optimize::is_quantization(node)) ||
         is_wanted_unchanged(prepared, node);
}

void GraphOptimizer::report_unfolded(PreparedModel& prepared, const optimize::FoldReport& folding) {
  prepared.notes.insert(prepared.notes.end(), folding.skipped.begin(), folding.skipped.end());
  if (folding.budget_note.empty()) return;
  prepared.notes.push_back(folding.budget_note);
  log_warning(folding.budget_note);
}

}  // namespace ephost::session
