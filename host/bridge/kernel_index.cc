#include "host/bridge/kernel_index.h"

#include <algorithm>

#include "host/bridge/abi_text.h"

namespace ephost::bridge {
namespace {

bool allows(const eph_type_rule& rule, const graph::Graph& graph, graph::ValueId value) {
  if (value == graph::kNoValue) return true;
  const graph::ValueType& type = graph.values[value].type;
  if (type.element == ElementType::kUndefined) return true;
  return (rule.element_types >> static_cast<uint32_t>(type.element) & 1) != 0;
}

bool obeys(const eph_type_rule& rule, const graph::Graph& graph, const graph::Node& node) {
  const auto& slots = (rule.flags & EPH_RULE_OUTPUT) != 0 ? node.outputs : node.inputs;
  const bool variadic = (rule.flags & EPH_RULE_VARIADIC) != 0;
  const size_t end =
      variadic ? slots.size() : std::min<size_t>(slots.size(), size_t{rule.slot} + 1);
  for (size_t slot = rule.slot; slot < end; ++slot) {
    if (!allows(rule, graph, slots[slot])) return false;
  }
  return true;
}

}  // namespace

KernelIndex::KernelIndex(std::span<const eph_kernel_def> kernels) : kernels_(kernels) {
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    by_operator_[view(kernels[i].op_type)].push_back(i);
  }
}

KernelIndex::Fit KernelIndex::best_fit(const graph::Graph& graph, const graph::Node& node) const {
  Fit best = Fit::kNoOperator;
  const auto candidates = by_operator_.find(node.op_type);
  if (candidates == by_operator_.end()) return best;
  for (const uint32_t index : candidates->second) {
    const eph_kernel_def& kernel = kernels_[index];
    if (view(kernel.domain) != node.domain) continue;
    best = std::max(best, Fit::kNoVersion);
    if (node.since_version < kernel.since_version || node.since_version > kernel.until_version) {
      continue;
    }
    best = std::max(best, Fit::kNoType);
    const std::span rules(kernel.rules, static_cast<size_t>(kernel.rule_count));
    const auto obeyed = [&](const eph_type_rule& rule) { return obeys(rule, graph, node); };
    if (std::all_of(rules.begin(), rules.end(), obeyed)) return Fit::kFits;
  }
  return best;
}

bool KernelIndex::fits(const graph::Graph& graph, const graph::Node& node) const {
  return best_fit(graph, node) == Fit::kFits;
}

std::string KernelIndex::why_not(const graph::Graph& graph, const graph::Node& node) const {
  switch (best_fit(graph, node)) {
    case Fit::kNoOperator:
      return "no kernel for the operator";
    case Fit::kNoVersion:
      return "no kernel for version " + std::to_string(node.since_version) + " of the operator";
    case Fit::kNoType: {
      std::string types;
      for (const graph::ValueId input : node.inputs) {
        if (input == graph::kNoValue) continue;
        if (!types.empty()) types += ", ";
        types += graph::element_type_name(graph.values[input].type.element);
      }
      return "no kernel for the element types (" + types + ")";
    }
    case Fit::kFits:
      break;
  }
  return {};
}

}  // namespace ephost::bridge
