#include "host/bridge/kernel_index.h"

#include <algorithm>

#include "host/bridge/abi_text.h"

namespace ephost::bridge {
namespace {

constexpr uint32_t kKinds = EPH_RULE_TENSOR | EPH_RULE_SEQUENCE | EPH_RULE_MAP | EPH_RULE_OPTIONAL;

// The flag that allows values of the kind, or 0 if there is none.
uint32_t flag_of(graph::ValueKind kind) {
  switch (kind) {
    case graph::ValueKind::kTensor:
      return EPH_RULE_TENSOR;
    case graph::ValueKind::kSequence:
      return EPH_RULE_SEQUENCE;
    case graph::ValueKind::kMap:
      return EPH_RULE_MAP;
    case graph::ValueKind::kOptional:
      return EPH_RULE_OPTIONAL;
    default:
      return 0;
  }
}

std::string_view kind_prefix(graph::ValueKind kind) {
  switch (kind) {
    case graph::ValueKind::kSequence:
      return "sequence of ";
    case graph::ValueKind::kMap:
      return "map from ";
    case graph::ValueKind::kOptional:
      return "optional ";
    case graph::ValueKind::kSparseTensor:
      return "sparse ";
    default:
      return "";
  }
}

bool applies(const eph_type_rule& rule, uint32_t slot, bool is_output) {
  if (((rule.flags & EPH_RULE_OUTPUT) != 0) != is_output) return false;
  return rule.slot == slot || ((rule.flags & EPH_RULE_VARIADIC) != 0 && rule.slot < slot);
}

bool allows(const eph_type_rule& rule, const graph::ValueType& type) {
  const uint32_t kinds = rule.flags & kKinds;
  if (((kinds == 0 ? uint32_t{EPH_RULE_TENSOR} : kinds) & flag_of(type.kind)) == 0) return false;
  const ElementType element = graph::content_element(type);
  return element == ElementType::kUndefined ||
         (rule.element_types >> static_cast<uint32_t>(element) & 1) != 0;
}

bool obey(std::span<const eph_type_rule> rules, const graph::Graph& graph,
          std::span<const graph::ValueId> slots, bool is_output) {
  for (uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] == graph::kNoValue) continue;
    const graph::ValueType& type = graph.values[slots[slot]].type;
    if (type.kind == graph::ValueKind::kUnknown) continue;
    bool is_named = type.kind == graph::ValueKind::kTensor;
    for (const eph_type_rule& rule : rules) {
      if (!applies(rule, slot, is_output)) continue;
      if (!allows(rule, type)) return false;
      is_named = true;
    }
    if (!is_named) return false;
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
    if (obey(rules, graph, node.inputs, false) && obey(rules, graph, node.outputs, true)) {
      return Fit::kFits;
    }
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
        const graph::ValueType& type = graph.values[input].type;
        types += kind_prefix(type.kind);
        types += graph::element_type_name(graph::content_element(type));
      }
      return "no kernel for the types (" + types + ")";
    }
    case Fit::kFits:
      break;
  }
  return {};
}

}  // namespace ephost::bridge
