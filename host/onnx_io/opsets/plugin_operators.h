// Operators that plugins define in domains of their own, as plain values: the bridge makes them
// from what a plugin offers, and import and inference use them as they use onnx's definitions for
// ONNX's operators. Does not know how a plugin is called.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::onnx_io {

// A formal input or output.
struct FormalParameter {
  std::string name;
  std::string description;
  std::string type_name;       // of a type constraint; empty: restricted by `element_types` alone
  uint64_t element_types = 0;  // bit n allows tensors of element type n
  bool is_optional = false;
  bool is_variadic = false;  // of the last one only
  bool is_heterogeneous = false;
};

// Kinds of attributes have the numbers of ONNX's AttributeProto.AttributeType.
[[nodiscard]] int32_t attribute_kind(const graph::AttributeValue& value);
// For example "INTS"; "kind 99" for a number without a name.
[[nodiscard]] std::string attribute_kind_name(int32_t kind);

// What a node has that omits an attribute.
using DefaultValue = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                                  std::vector<float>, std::vector<std::string>>;

struct FormalAttribute {
  std::string name;
  std::string description;
  int32_t kind = 0;
  bool is_required = false;
  std::optional<DefaultValue> default_value;
};

// The type of an output as an inference function gives it. `dim_names` is empty, or has an entry
// for each dimension, empty for one without a symbol.
struct StatedType {
  graph::ElementType element = graph::ElementType::kUndefined;
  std::optional<graph::Shape> shape;  // extents, or kUnknownDim; nothing: unknown rank
  std::vector<std::string> dim_names;
};

// What inference found out about the outputs of a node, by output; nothing where it said nothing.
using StatedTypes = std::vector<std::optional<StatedType>>;

// Computes the types of a node's outputs. `alone` contains nothing but the node and its values: all
// that is known of its inputs, constants included. `model` has the symbols and opsets. A failure is
// one of the model.
using InferFunction =
    std::function<Status(const graph::Graph& alone, const graph::Model& model, StatedTypes& out)>;

// One version of an operator.
struct OperatorDefinition {
  std::string plugin;  // the provider whose plugin defines it, for messages
  std::string op_type;
  std::string domain;
  std::string description;
  int32_t since_version = 0;
  bool is_deprecated = false;
  std::vector<FormalParameter> inputs;
  std::vector<FormalParameter> outputs;
  std::vector<FormalAttribute> attributes;
  InferFunction infer;  // may be empty
};

// Its name in messages: `operator "Crop" of domain "com.acme", which AcmeExecutionProvider
// defines`.
[[nodiscard]] std::string describe(const OperatorDefinition& definition);

// The parameter that the value at `index` of a node belongs to, or null.
[[nodiscard]] const FormalParameter* parameter_at(const std::vector<FormalParameter>& parameters,
                                                  size_t index);

// The definitions of all plugins of a session. Immutable once it is in use; reads may be
// concurrent.
class PluginOperators {
 public:
  // Adds the definitions of one plugin. If another plugin already defines the same version of an
  // operator, that definition stays. Returns a warning for each that differs in more than its
  // descriptions.
  [[nodiscard]] std::vector<std::string> add(std::vector<OperatorDefinition> definitions);

  [[nodiscard]] bool empty() const { return by_operator_.empty(); }
  [[nodiscard]] bool has_domain(const std::string& domain) const;
  // The newest definition that is not newer than `version`, or null.
  [[nodiscard]] const OperatorDefinition* find(const std::string& domain,
                                               const std::string& op_type, int64_t version) const;
  // The oldest definition, or null if no plugin defines the operator.
  [[nodiscard]] const OperatorDefinition* find_oldest(const std::string& domain,
                                                      const std::string& op_type) const;

 private:
  using Versions = std::map<int64_t, OperatorDefinition>;

  [[nodiscard]] const Versions* versions_of(const std::string& domain,
                                            const std::string& op_type) const;

  std::map<std::pair<std::string, std::string>, Versions> by_operator_;  // by domain and type
};

// Whether plugins may define operators in the domain: not in those of ONNX and of the host.
[[nodiscard]] bool is_plugin_domain(std::string_view domain);

// Whether the model may have nodes of a domain that plugins can define.
[[nodiscard]] bool may_use_plugin_operators(const graph::Model& model);

}  // namespace ephost::onnx_io
