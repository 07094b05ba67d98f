#include "host/onnx_io/opsets/plugin_operators.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/onnx_io/import/version_wrappers.h"
#include "host/onnx_io/opsets/operator_schemas.h"

namespace ephost::onnx_io {
namespace {

// The alternatives of AttributeValue in ONNX's numbers, by index.
constexpr std::array<int32_t, 15> kKinds = {2, 1, 3, 3, 4, 11, 13, 5, 7, 6, 8, 9, 12, 14, 10};
static_assert(std::variant_size_v<graph::AttributeValue> == kKinds.size());

constexpr std::array<std::string_view, 15> kKindNames = {
    "",           "FLOAT",   "INT",     "STRING", "TENSOR",        "GRAPH",          "FLOATS",
    "INTS",       "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO",
    "TYPE_PROTOS"};

bool are_equal(const FormalParameter& a, const FormalParameter& b) {
  return a.name == b.name && a.type_name == b.type_name && a.element_types == b.element_types &&
         a.is_optional == b.is_optional && a.is_variadic == b.is_variadic &&
         a.is_heterogeneous == b.is_heterogeneous;
}

bool are_equal(const FormalAttribute& a, const FormalAttribute& b) {
  return a.name == b.name && a.kind == b.kind && a.is_required == b.is_required &&
         a.default_value == b.default_value;
}

template <class Item>
bool are_equal(const std::vector<Item>& a, const std::vector<Item>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Item& left, const Item& right) { return are_equal(left, right); });
}

// Whether they say the same, apart from descriptions. What inference functions compute is unknown.
bool are_equal(const OperatorDefinition& a, const OperatorDefinition& b) {
  return a.is_deprecated == b.is_deprecated && are_equal(a.inputs, b.inputs) &&
         are_equal(a.outputs, b.outputs) && are_equal(a.attributes, b.attributes) &&
         (a.infer != nullptr) == (b.infer != nullptr);
}

}  // namespace

int32_t attribute_kind(const graph::AttributeValue& value) { return kKinds.at(value.index()); }

std::string attribute_kind_name(int32_t kind) {
  if (kind < 1 || static_cast<size_t>(kind) >= kKindNames.size()) return formatted("kind {}", kind);
  return std::string(kKindNames[static_cast<size_t>(kind)]);
}

std::string describe(const OperatorDefinition& definition) {
  return formatted("operator {} of domain {}, which {} defines", quote(definition.op_type),
                   quote(definition.domain), definition.plugin);
}

const FormalParameter* parameter_at(const std::vector<FormalParameter>& parameters, size_t index) {
  if (index < parameters.size()) return &parameters[index];
  return !parameters.empty() && parameters.back().is_variadic ? &parameters.back() : nullptr;
}

std::vector<std::string> PluginOperators::add(std::vector<OperatorDefinition> definitions) {
  std::vector<std::string> warnings;
  for (OperatorDefinition& one : definitions) {
    Versions& versions = by_operator_[{one.domain, one.op_type}];
    const auto [known, is_new] = versions.try_emplace(one.since_version);
    if (is_new) {
      known->second = std::move(one);
    } else if (!are_equal(known->second, one)) {
      warnings.push_back(formatted(
          "{0} and {1} define operator {2} of domain {3}, version {4}, differently; the definition "
          "of {0} is used, which comes first in the order of providers",
          known->second.plugin, one.plugin, quote(one.op_type), quote(one.domain),
          one.since_version));
    }
  }
  return warnings;
}

bool PluginOperators::has_domain(const std::string& domain) const {
  const auto first = by_operator_.lower_bound({domain, ""});
  return first != by_operator_.end() && first->first.first == domain;
}

const PluginOperators::Versions* PluginOperators::versions_of(const std::string& domain,
                                                              const std::string& op_type) const {
  const auto known = by_operator_.find({domain, op_type});
  return known == by_operator_.end() ? nullptr : &known->second;
}

const OperatorDefinition* PluginOperators::find(const std::string& domain,
                                                const std::string& op_type, int64_t version) const {
  const Versions* versions = versions_of(domain, op_type);
  if (versions == nullptr) return nullptr;
  const auto newer = versions->upper_bound(version);
  return newer == versions->begin() ? nullptr : &std::prev(newer)->second;
}

const OperatorDefinition* PluginOperators::find_oldest(const std::string& domain,
                                                       const std::string& op_type) const {
  const Versions* versions = versions_of(domain, op_type);
  return versions == nullptr ? nullptr : &versions->begin()->second;
}

bool is_plugin_domain(std::string_view domain) {
  return !domain.empty() && !domain.starts_with("ai.onnx") && domain != kWrapperDomain &&
         opset_knowledge(std::string(domain), 1) == OpsetKnowledge::kForeign;
}

bool may_use_plugin_operators(const graph::Model& model) {
  // Functions import domains of their own.
  return !model.functions.empty() ||
         std::any_of(model.opset_imports.begin(), model.opset_imports.end(),
                     [](const auto& import) { return is_plugin_domain(import.first); });
}

}  // namespace ephost::onnx_io
