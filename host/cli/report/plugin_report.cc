#include "host/cli/report/plugin_report.h"

#include <ephost/element_info.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"

namespace ephost::cli {
namespace {

std::string versions_text(const KernelDescription& kernel) {
  if (!kernel.until_version) return formatted("{}+", kernel.since_version);
  if (*kernel.until_version == kernel.since_version) return std::to_string(kernel.since_version);
  return formatted("{}-{}", kernel.since_version, *kernel.until_version);
}

std::vector<std::string_view> type_names(const std::vector<ElementType>& types) {
  std::vector<std::string_view> names;
  for (const ElementType type : types) names.push_back(element_type_name(type));
  return names;
}

std::string slot_text(const KernelTypeRule& rule) {
  return formatted("{} {}{}", rule.is_output ? "output" : "input", rule.slot,
                   rule.is_variadic ? "..." : "");
}

// "input 0: sequence|optional of float|int64, output 0: float".
std::string rules_text(const KernelDescription& kernel) {
  std::vector<std::string> parts;
  for (const KernelTypeRule& rule : kernel.types) {
    const std::string kinds = rule.kinds.empty() ? "" : join(rule.kinds, "|") + " of ";
    parts.push_back(
        formatted("{}: {}{}", slot_text(rule), kinds, join(type_names(rule.element_types), "|")));
  }
  return join(parts, ", ");
}

std::string operator_text(const KernelDescription& kernel) {
  return kernel.domain.empty() ? kernel.op_type : kernel.domain + "." + kernel.op_type;
}

Json parameters_json(const std::vector<ParameterDescription>& parameters) {
  Json json = Json::array();
  for (const ParameterDescription& one : parameters) {
    json.push_back({{"name", one.name},
                    {"description", one.description},
                    {"type_name", one.type_name},
                    {"types", type_names(one.element_types)},
                    {"optional", one.is_optional},
                    {"variadic", one.is_variadic}});
  }
  return json;
}

Json attributes_json(const OperatorDescription& one) {
  Json attributes = Json::array();
  for (const AttributeDescription& attribute : one.attributes) {
    attributes.push_back(
        {{"name", attribute.name},
         {"description", attribute.description},
         {"type", attribute.type},
         {"required", attribute.is_required},
         {"default", attribute.default_value ? Json(*attribute.default_value) : Json()}});
  }
  return attributes;
}

// "X: T, bias?: float|int64, rest...: T" for parameters that have type names or element types.
std::string parameters_text(const std::vector<ParameterDescription>& parameters) {
  std::vector<std::string> parts;
  for (const ParameterDescription& one : parameters) {
    const std::string types = join(type_names(one.element_types), "|");
    parts.push_back(formatted("{}{}{}: {}", one.name, one.is_optional ? "?" : "",
                              one.is_variadic ? "..." : "",
                              one.type_name.empty() ? types : one.type_name + "=" + types));
  }
  return join(parts, ", ");
}

std::string attributes_text(const OperatorDescription& one) {
  std::vector<std::string> parts;
  for (const AttributeDescription& attribute : one.attributes) {
    std::string text = attribute.name + ": " + attribute.type;
    if (attribute.is_required) text += ", required";
    if (attribute.default_value) text += " = " + *attribute.default_value;
    parts.push_back(std::move(text));
  }
  return join(parts, "; ");
}

}  // namespace

Json kernels_json(const PluginDescription& plugin) {
  Json kernels = Json::array();
  for (const KernelDescription& kernel : plugin.kernels) {
    Json rules = Json::array();
    for (const KernelTypeRule& rule : kernel.types) {
      rules.push_back({{"slot", slot_text(rule)}, {"types", type_names(rule.element_types)}});
    }
    constexpr int32_t kOpen = std::numeric_limits<int32_t>::max();
    kernels.push_back({{"op", kernel.op_type},
                       {"domain", kernel.domain},
                       {"since_version", kernel.since_version},
                       {"until_version", kernel.until_version.value_or(kOpen)},
                       {"types", rules}});
  }
  return kernels;
}

Json operators_json(const PluginDescription& plugin) {
  Json operators = Json::array();
  for (const OperatorDescription& one : plugin.operators) {
    operators.push_back({{"op", one.op_type},
                         {"domain", one.domain},
                         {"description", one.description},
                         {"since_version", one.since_version},
                         {"deprecated", one.is_deprecated},
                         {"infers_types", one.infers_types},
                         {"inputs", parameters_json(one.inputs)},
                         {"outputs", parameters_json(one.outputs)},
                         {"attributes", attributes_json(one)}});
  }
  return operators;
}

std::string operators_section(const PluginDescription& plugin) {
  if (!plugin.operators_status.ok()) {
    return formatted("\noperators: {}\n", printable(plugin.operators_status.to_string()));
  }
  if (plugin.operators.empty()) return "";
  Table table({{"operator"}, {"since"}, {"inputs"}, {"outputs"}, {"attributes"}});
  for (const OperatorDescription& one : plugin.operators) {
    table.add_row({one.domain + "." + one.op_type,
                   formatted("{}{}", one.since_version, one.is_deprecated ? ", deprecated" : ""),
                   parameters_text(one.inputs), parameters_text(one.outputs),
                   attributes_text(one)});
  }
  return "\n" + table.to_text();
}

std::string kernels_section(const PluginDescription& plugin) {
  if (!plugin.provider_status.ok()) {
    return formatted("\nno provider could be created: {}\n",
                     printable(plugin.provider_status.to_string()));
  }
  if (plugin.kernels.empty()) return "\nno kernels for single nodes\n";
  Table table({{"kernel"}, {"versions"}, {"types"}});
  for (const KernelDescription& kernel : plugin.kernels) {
    table.add_row({operator_text(kernel), versions_text(kernel), rules_text(kernel)});
  }
  return "\n" + table.to_text();
}

}  // namespace ephost::cli
