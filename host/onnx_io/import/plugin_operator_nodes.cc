#include "host/onnx_io/import/plugin_operator_nodes.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/subgraphs.h"
#include "host/onnx_io/import/notes.h"

namespace ephost::onnx_io {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

// How many values the parameters stand for, as text: "2", "1 to 3", "at least 1".
std::string counts_text(size_t least, size_t most, bool is_variadic) {
  if (is_variadic) return formatted("at least {}", least);
  return least == most ? std::to_string(least) : formatted("{} to {}", least, most);
}

// What is wrong with the inputs or outputs, or nothing. `what` is "input" or "output".
std::string check_values(const std::vector<FormalParameter>& parameters,
                         const std::vector<ValueId>& values, std::string_view what) {
  size_t least = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is_optional) least = i + 1;
  }
  const bool is_variadic = !parameters.empty() && parameters.back().is_variadic;
  if (values.size() < least || (values.size() > parameters.size() && !is_variadic)) {
    return formatted("it has {} {}s, and the operator has {}", values.size(), what,
                     counts_text(least, parameters.size(), is_variadic));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const FormalParameter& parameter = *parameter_at(parameters, i);
    if (values[i] == graph::kNoValue && !parameter.is_optional) {
      return formatted("it omits {} {} ({}), which is required", what, i, quote(parameter.name));
    }
  }
  return {};
}

std::string check_attributes(const OperatorDefinition& definition, const Node& node) {
  for (const graph::Attribute& attribute : node.attributes) {
    const auto formal =
        std::ranges::find(definition.attributes, attribute.name, &FormalAttribute::name);
    if (formal == definition.attributes.end()) {
      return formatted("it has an attribute {}, which the operator does not have",
                       quote(attribute.name));
    }
    const int32_t kind = attribute_kind(attribute.value);
    if (kind != formal->kind) {
      return formatted("its attribute {} is {}, and the operator wants {}", quote(attribute.name),
                       attribute_kind_name(kind), attribute_kind_name(formal->kind));
    }
  }
  for (const FormalAttribute& formal : definition.attributes) {
    if (formal.is_required && node.attribute(formal.name) == nullptr) {
      return formatted("it lacks the attribute {}, which is required", quote(formal.name));
    }
  }
  return {};
}

// What is wrong with the node, or nothing.
std::string check_node(const OperatorDefinition& definition, const Node& node) {
  if (definition.is_deprecated) {
    return formatted("the operator is deprecated since version {}", definition.since_version);
  }
  std::string reason = check_values(definition.inputs, node.inputs, "input");
  if (reason.empty()) reason = check_values(definition.outputs, node.outputs, "output");
  return reason.empty() ? check_attributes(definition, node) : reason;
}

graph::AttributeValue to_attribute(const DefaultValue& value) {
  return std::visit([](const auto& held) { return graph::AttributeValue(held); }, value);
}

class Application {
 public:
  Application(graph::Model& model, const PluginOperators& operators)
      : model_(model), operators_(operators) {
    for (const graph::Function& function : model.functions) {
      functions_.emplace(function.domain, function.name, function.overload);
    }
  }

  Status run(Graph& graph) {
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      Node& node = graph.nodes[id];
      Status status = apply(graph, id);
      graph::for_each_subgraph(node, [&](Graph& body) {
        if (status.ok()) status = run(body);
      });
      if (!status.ok()) return status;
    }
    return {};
  }

  std::vector<std::string> take_notes() { return std::move(notes_).take(); }

 private:
  Status apply(Graph& graph, NodeId id) {
    Node& node = graph.nodes[id];
    // Nearly all nodes are ONNX's.
    if (node.domain.empty() || !operators_.has_domain(node.domain)) return {};
    if (functions_.contains({node.domain, node.op_type, node.overload})) return {};
    const OperatorDefinition* definition =
        operators_.find(node.domain, node.op_type, node.since_version);
    if (definition == nullptr) return check_undefined(graph, id);
    if (const std::string reason = check_node(*definition, node); !reason.empty()) {
      return {StatusCode::kInvalidGraph, formatted("{}: {}: {}", graph::describe_node(graph, id),
                                                   describe(*definition), reason)};
    }
    node.since_version = definition->since_version;
    if (node.is_of_other_opset) node.is_of_other_opset = differs_in_model(*definition);
    for (const FormalAttribute& formal : definition->attributes) {
      if (!formal.default_value || node.attribute(formal.name) != nullptr) continue;
      node.attributes.push_back({formal.name, to_attribute(*formal.default_value)});
    }
    return {};
  }

  // Whether the opset that the model imports has another definition of the operator.
  [[nodiscard]] bool differs_in_model(const OperatorDefinition& definition) const {
    const auto imported = model_.opset_imports.find(definition.domain);
    return imported == model_.opset_imports.end() ||
           operators_.find(definition.domain, definition.op_type, imported->second) != &definition;
  }

  Status check_undefined(const Graph& graph, NodeId id) {
    const Node& node = graph.nodes[id];
    const OperatorDefinition* oldest = operators_.find_oldest(node.domain, node.op_type);
    if (oldest != nullptr) {
      return {StatusCode::kInvalidGraph,
              formatted("{}: {}: version {} of the domain does not have it yet, as it came with "
                        "version {}; import that version or a later one",
                        graph::describe_node(graph, id), describe(*oldest), node.since_version,
                        oldest->since_version)};
    }
    // Microsoft's domain is shared by many plugins, none of which defines all of it.
    if (node.domain != "com.microsoft" && noted_.emplace(node.domain, node.op_type).second) {
      notes_.add(
          formatted("{}: no plugin defines operator {}, but other operators of domain {}; "
                    "its nodes are not checked",
                    graph::describe_node(graph, id), quote(node.op_type), quote(node.domain)));
    }
    return {};
  }

  graph::Model& model_;
  const PluginOperators& operators_;
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> functions_;
  std::set<std::pair<std::string, std::string>> noted_;
  Notes notes_;
};

}  // namespace

Result<std::vector<std::string>> apply_plugin_operators(graph::Model& model,
                                                        const PluginOperators& operators) {
  Application application(model, operators);
  EPHOST_RETURN_IF_ERROR(application.run(model.graph));
  return application.take_notes();
}

}  // namespace ephost::onnx_io
