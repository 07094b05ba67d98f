#include "host/onnx_io/inference/plugin_inference.h"

#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/checks.h"

namespace ephost::onnx_io {
namespace {

using graph::ElementType;
using graph::invalid_graph;
using graph::ValueId;
using graph::ValueKind;
using graph::ValueType;

bool allows(const FormalParameter& parameter, ElementType type) {
  return (parameter.element_types >> static_cast<uint32_t>(type) & 1) != 0;
}

// The element types of the type constraints, as the inputs settle them.
class TypeNames {
 public:
  // Borrows the names of symbolic dimensions.
  explicit TypeNames(const std::vector<std::string>& symbols) : symbols_(symbols) {}

  Status bind(const FormalParameter& parameter, const ValueType& type, const std::string& what) {
    if (type.kind == ValueKind::kUnknown) return {};
    if (type.kind != ValueKind::kTensor) {
      return invalid_graph(formatted("{} is {}, and the operator takes a tensor", what,
                                     graph::to_string(type, symbols_)));
    }
    if (type.element == ElementType::kUndefined) return {};
    if (!allows(parameter, type.element)) {
      return invalid_graph(formatted("{} is a tensor of {}, which the operator does not take", what,
                                     graph::element_type_name(type.element)));
    }
    if (parameter.type_name.empty() || parameter.is_heterogeneous) return {};
    const auto [known, is_new] = bound_.try_emplace(parameter.type_name, Bound{type.element, what});
    if (is_new || known->second.type == type.element) return {};
    return invalid_graph(formatted("{} is a tensor of {} and {} of {}, and both have type {}",
                                   known->second.what, graph::element_type_name(known->second.type),
                                   what, graph::element_type_name(type.element),
                                   quote(parameter.type_name)));
  }

  // Undefined if nothing is known.
  [[nodiscard]] ElementType type_of(const FormalParameter& parameter) const {
    const auto known = bound_.find(parameter.type_name);
    if (!parameter.is_heterogeneous && known != bound_.end()) return known->second.type;
    return std::has_single_bit(parameter.element_types)
               ? static_cast<ElementType>(std::countr_zero(parameter.element_types))
               : ElementType::kUndefined;
  }

 private:
  struct Bound {
    ElementType type;
    std::string what;
  };

  const std::vector<std::string>& symbols_;
  std::map<std::string, Bound> bound_;
};

std::string describe_value(const FormalParameter& parameter, size_t index, std::string_view what) {
  return formatted("{} {} ({})", what, index, quote(parameter.name));
}

Status bind_inputs(const OperatorDefinition& definition, const graph::Graph& alone,
                   TypeNames& names) {
  const std::vector<ValueId>& inputs = alone.nodes.front().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const FormalParameter* parameter = parameter_at(definition.inputs, i);
    if (inputs[i] == graph::kNoValue || parameter == nullptr) continue;
    EPHOST_RETURN_IF_ERROR(names.bind(*parameter, alone.values[inputs[i]].type,
                                      describe_value(*parameter, i, "input")));
  }
  return {};
}

graph::Shape to_shape(const StatedType& stated, DimSymbols& symbols) {
  graph::Shape shape = *stated.shape;
  for (size_t d = 0; d < shape.size() && d < stated.dim_names.size(); ++d) {
    if (!graph::is_static_dim(shape[d])) shape[d] = symbols.dim(stated.dim_names[d]);
  }
  return shape;
}

Result<ValueType> output_type(const FormalParameter& parameter,
                              const std::optional<StatedType>& stated, const TypeNames& names,
                              const std::string& what, DimSymbols& symbols) {
  ValueType type{.kind = ValueKind::kTensor, .element = names.type_of(parameter)};
  if (!stated) return type;
  if (stated->shape) type.shape = to_shape(*stated, symbols);
  if (stated->element == ElementType::kUndefined) return type;
  const bool fits = type.element == ElementType::kUndefined || type.element == stated->element;
  if (!fits || !allows(parameter, stated->element)) {
    return Status(StatusCode::kEpFail,
                  formatted("its inference function says that {} is a tensor of {}, which its "
                            "definition does not allow here; report this to the plugin's vendor",
                            what, graph::element_type_name(stated->element)));
  }
  type.element = stated->element;
  return type;
}

}  // namespace

Result<std::vector<ValueType>> infer_by_definition(const OperatorDefinition& definition,
                                                   const graph::Graph& alone,
                                                   const graph::Model& model, DimSymbols& symbols) {
  TypeNames names(model.symbols);
  EPHOST_RETURN_IF_ERROR(bind_inputs(definition, alone, names));
  const std::vector<ValueId>& outputs = alone.nodes.front().outputs;
  StatedTypes stated(outputs.size());
  if (definition.infer) EPHOST_RETURN_IF_ERROR(definition.infer(alone, model, stated));
  std::vector<ValueType> types(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FormalParameter* parameter = parameter_at(definition.outputs, i);
    if (outputs[i] == graph::kNoValue || parameter == nullptr) continue;
    EPHOST_ASSIGN_OR_RETURN(
        types[i], output_type(*parameter, stated[i], names, describe_value(*parameter, i, "output"),
                              symbols));
  }
  return types;
}

}  // namespace ephost::onnx_io
