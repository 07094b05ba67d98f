#include "host/session/pipeline/cpu_refinement.h"

#include <algorithm>
#include <utility>

#include "host/optimize/block_products.h"
#include "host/optimize/dead_code.h"
#include "host/optimize/quantization_nodes.h"
#include "host/optimize/quantized_operators.h"
#include "host/optimize/scaled_products.h"
#include "host/runtime/evaluator.h"
#include "host/session/pipeline/renumbering.h"

namespace ephost::session {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

int64_t opset_of(const graph::Model& model) {
  const auto opset = model.opset_imports.find("");
  return opset == model.opset_imports.end() ? 0 : opset->second;
}

}  // namespace

CpuRefinement::CpuRefinement(PreparedModel& prepared, const SessionConfig& config,
                             GraphOptimizer& optimizer, MadeComputations& made)
    : prepared_(prepared), config_(config), optimizer_(optimizer), made_(made) {
  const auto cpu = std::ranges::find(prepared.providers, kCpuProvider,
                                     [](const auto& provider) { return provider->name(); });
  cpu_ = static_cast<uint32_t>(cpu - prepared.providers.begin());
}

bool CpuRefinement::may_change() const {
  if (cpu_ == prepared_.providers.size()) return false;
  return std::ranges::any_of(prepared_.graphs(), [&](const PreparedGraph* graph) {
    const std::vector<Node>& nodes = prepared_.graph_of(*graph).nodes;
    for (NodeId id = 0; id < nodes.size(); ++id) {
      const bool may_change = optimizer_.keeps(prepared_, nodes[id]) ||
                              (forms_operators() && optimize::starts_scaled_product(nodes[id]));
      if (may_change && is_free(*graph, id)) return true;
    }
    return false;
  });
}

Result<bool> CpuRefinement::run() {
  optimizer_.budget().recount(prepared_.model.graph);
  // Kernels that are there already may read their constants until they are destroyed.
  std::vector<std::vector<graph::Tensor>> constants;
  for (const PreparedGraph* graph : prepared_.graphs()) {
    constants.push_back(prepared_.graph_of(*graph).initializers);
  }
  std::vector<Change> changes;
  for (PreparedGraph* graph : prepared_.graphs()) {
    EPHOST_ASSIGN_OR_RETURN(Change changed, change(*graph));
    if (changed.has_any) changes.push_back(std::move(changed));
  }
  if (changes.empty()) return false;
  take_computations(prepared_, made_);
  for (Change& changed : changes) apply(changed);
  return true;
}

bool CpuRefinement::forms_operators() const {
  return !config_.disable_quant_qdq && config_.passes.runs(optimize::Pass::kQuantizedOperators);
}

bool CpuRefinement::is_free(const PreparedGraph& prepared, NodeId node) const {
  return prepared.partitioning.owner[node] == cpu_ &&
         prepared.partitioning.partition_of[node] == partition::kNoPartition;
}

Result<CpuRefinement::Change> CpuRefinement::change(PreparedGraph& prepared) {
  const Graph& graph = prepared_.graph_of(prepared);
  bridge::Provider& cpu = *prepared_.providers[cpu_];
  Change change{.prepared = &prepared, .is_touched = std::vector<bool>(graph.nodes.size())};
  const auto is_of_group = [](const Node& node) {
    return optimize::is_quantization(node) || optimize::starts_scaled_product(node);
  };
  if (forms_operators() && std::ranges::any_of(graph.nodes, is_of_group)) {
    form_operators(change, cpu);
  }
  if (config_.passes.runs(optimize::Pass::kConstantFolding)) {
    EPHOST_RETURN_IF_ERROR(fold(change, cpu));
  }
  return change;
}

void CpuRefinement::form_operators(Change& change, bridge::Provider& cpu) {
  Graph& graph = prepared_.graph_of(*change.prepared);
  optimize::UniqueNames names(prepared_.model.graph);
  const optimize::QuantizedOperators options{
      .is_free = [&](NodeId id) { return is_free(*change.prepared, id); },
      .has_kernel = [&](const Node& node) { return cpu.kernels().fits(graph, node); },
      .opset = opset_of(prepared_.model)};
  const auto note = [&](const std::vector<NodeId>& formed) {
    for (const NodeId id : formed) change.is_touched[id] = true;
    change.has_any = change.has_any || !formed.empty();
  };
  note(optimize::form_quantized_operators(graph, options, names));
  note(optimize::form_scaled_products(graph, options));
  note(optimize::form_block_products(graph, options, names));
}

// A node is folded only if the CPU provider runs all that read its outputs: partitions and bodies
// were compiled with an input or a captured value in its place, which cannot become a constant.
Status CpuRefinement::fold(Change& change, bridge::Provider& cpu) {
  Graph& graph = prepared_.graph_of(*change.prepared);
  std::vector<bool> was_constant;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    was_constant.push_back(graph.constant(id) != nullptr);
  }
  const auto reads_new_constant = [&](const Node& node) {
    return std::ranges::any_of(node.inputs, [&](ValueId id) {
      return id != kNoValue && !was_constant[id] && graph.constant(id) != nullptr;
    });
  };
  const auto is_own = [&](NodeId id) {
    const auto is_read_here = [&](ValueId output) {
      return output == kNoValue ||
             std::ranges::all_of(graph.values[output].consumers,
                                 [&](NodeId reader) { return is_free(*change.prepared, reader); });
    };
    return is_free(*change.prepared, id) &&
           std::ranges::all_of(graph.nodes[id].outputs, is_read_here);
  };
  optimize::FoldOptions options;
  options.cancellation = prepared_.cancellation;
  options.keeps = [&](const Graph&, NodeId id) {
    return !(optimizer_.keeps(prepared_, graph.nodes[id]) || reads_new_constant(graph.nodes[id])) ||
           !is_own(id);
  };
  runtime::KernelEvaluator evaluator(cpu, prepared_.model);
  EPHOST_ASSIGN_OR_RETURN(optimize::FoldReport report,
                          optimize::fold_level(graph, evaluator, optimizer_.budget(), options));
  GraphOptimizer::report_unfolded(prepared_, report);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (reads_new_constant(graph.nodes[id])) change.is_touched[id] = true;
  }
  prepared_.folding.folded_nodes += report.folded_nodes;
  prepared_.folding.folded_bytes += report.folded_bytes;
  change.has_any = change.has_any || report.folded_nodes > 0;
  return Status::ok_status();
}

void CpuRefinement::apply(Change& change) {
  Graph& graph = prepared_.graph_of(*change.prepared);
  auto& kernels = made_.kernels[{cpu_, &graph}];
  kernels.resize(graph.nodes.size());
  for (NodeId id = 0; id < kernels.size(); ++id) {
    if (change.is_touched[id]) kernels[id].reset();
  }
  const graph::Renumbering numbers =
      optimize::remove_bare_nodes(graph, [&](NodeId id) { return is_free(*change.prepared, id); });
  std::vector<optimize::InlinedRange> ranges;
  for (const NodeId id : numbers.nodes) {
    ranges.push_back(id == graph::kNoNode ? optimize::InlinedRange{}
                                          : optimize::InlinedRange{id, id + 1});
  }
  renumber_nodes(graph, ranges, prepared_, made_);
  renumber_owners(*change.prepared, numbers);
}

}  // namespace ephost::session
