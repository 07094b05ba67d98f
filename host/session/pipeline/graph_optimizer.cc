#include "host/session/pipeline/graph_optimizer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/context/ep_context_node.h"
#include "host/optimize/identity_removal.h"
#include "host/optimize/quantization_nodes.h"
#include "host/runtime/evaluator.h"
#include "host/session/pipeline/model_reader.h"

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

// The nodes of the CPU provider that depend on constants only and that other providers read, with
// the nodes of the CPU provider before them.
std::vector<bool> constants_for_others(const graph::Graph& graph, const PreparedGraph& prepared,
                                       uint32_t cpu) {
  const partition::Partitioning& partitioning = prepared.partitioning;
  std::vector<bool> is_constant(graph.nodes.size());
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const graph::Node& node = graph.nodes[id];
    is_constant[id] = partitioning.owner[id] == cpu &&
                      partitioning.partition_of[id] == partition::kNoPartition &&
                      node.implicit_inputs.empty() && !optimize::is_random(graph, node) &&
                      std::ranges::all_of(node.inputs, [&](graph::ValueId input) {
                        if (input == graph::kNoValue || graph.constant(input) != nullptr)
                          return true;
                        const graph::NodeId producer = graph.values[input].producer;
                        return producer != graph::kNoNode && is_constant[producer];
                      });
  }
  std::vector<bool> chosen(graph.nodes.size());
  for (graph::NodeId id = static_cast<graph::NodeId>(graph.nodes.size()); id-- > 0;) {
    const auto leads_to_others = [&](graph::ValueId output) {
      return output != graph::kNoValue &&
             std::ranges::any_of(graph.values[output].consumers, [&](graph::NodeId reader) {
               // What a context was compiled with as an input cannot become a constant.
               if (context::is_ep_context(graph.nodes[reader])) return false;
               return partitioning.owner[reader] != cpu || chosen[reader];
             });
    };
    chosen[id] = is_constant[id] && std::ranges::any_of(graph.nodes[id].outputs, leads_to_others);
  }
  return chosen;
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

Result<bool> GraphOptimizer::fold_unclaimed(PreparedModel& prepared) {
  bridge::Provider* const cpu = find_cpu_provider(prepared);
  if (cpu == nullptr || !config_.passes.runs(optimize::Pass::kConstantFolding)) return false;
  const auto index =
      static_cast<uint32_t>(std::ranges::find(prepared.providers, cpu,
                                              [](const auto& provider) { return provider.get(); }) -
                            prepared.providers.begin());
  std::map<const graph::Graph*, std::vector<bool>> chosen;
  bool has_any = false;
  for (const PreparedGraph* one : prepared.graphs()) {
    const graph::Graph& graph = prepared.graph_of(*one);
    const std::vector<bool>& nodes = chosen[&graph] = constants_for_others(graph, *one, index);
    has_any = has_any || std::find(nodes.begin(), nodes.end(), true) != nodes.end();
  }
  if (!has_any) return false;
  runtime::KernelEvaluator evaluator(*cpu, prepared.model);
  optimize::FoldOptions options;
  options.keeps = [&](const graph::Graph& graph, graph::NodeId node) {
    const auto known = chosen.find(&graph);
    return known == chosen.end() || !known->second[node];
  };
  options.removes_dead_code = config_.passes.runs(optimize::Pass::kDeadCodeElimination);
  options.cancellation = prepared.cancellation;
  EPHOST_ASSIGN_OR_RETURN(
      optimize::FoldReport report,
      optimize::fold_constants(prepared.model.graph, evaluator, budget_, options));
  const bool has_changed = report.folded_nodes > 0;
  report_unfolded(prepared, report);
  add_report(prepared, std::move(report));
  return has_changed;
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
