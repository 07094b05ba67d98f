#include "tests/unit/plugins/cpu/random_models/microsoft_schemas.h"

#include <onnx/defs/schema.h>

#include <ephost/sdk/basics.hpp>
#include <map>
#include <vector>

#include "tests/unit/plugins/cpu/microsoft/definitions.h"

namespace ephost::test {
namespace {

using onnx::OpSchema;

// Those that onnx can name; which of the others a kernel takes does not matter here.
std::vector<std::string> type_names(uint64_t types) {
  static const std::map<int32_t, std::string> kNames = {
      {EPH_ELEMENT_FLOAT, "float"},   {EPH_ELEMENT_UINT8, "uint8"},
      {EPH_ELEMENT_INT8, "int8"},     {EPH_ELEMENT_INT32, "int32"},
      {EPH_ELEMENT_INT64, "int64"},   {EPH_ELEMENT_UINT32, "uint32"},
      {EPH_ELEMENT_UINT64, "uint64"}, {EPH_ELEMENT_FLOAT16, "float16"},
      {EPH_ELEMENT_DOUBLE, "double"}, {EPH_ELEMENT_BFLOAT16, "bfloat16"}};
  std::vector<std::string> names;
  for (const auto& [type, name] : kNames) {
    if ((types >> type & 1) != 0) names.push_back("tensor(" + name + ")");
  }
  return names;
}

OpSchema::FormalParameterOption option_of(const eph_parameter& parameter) {
  if ((parameter.flags & EPH_PARAMETER_VARIADIC) != 0) return OpSchema::Variadic;
  return (parameter.flags & EPH_PARAMETER_OPTIONAL) != 0 ? OpSchema::Optional : OpSchema::Single;
}

OpSchema make_schema(const eph_operator_def& definition) {
  OpSchema schema;
  schema.SetName(std::string(eph::view(definition.op_type)))
      .SetDomain(std::string(eph::view(definition.domain)))
      .SinceVersion(definition.since_version);
  std::map<std::string, uint64_t> types;
  const auto type_of = [&](const eph_parameter& parameter) {
    std::string name(eph::view(parameter.type_name));
    if (name.empty()) name = "T_" + std::string(eph::view(parameter.name));
    types[name] = parameter.element_types;
    return name;
  };
  for (uint64_t i = 0; i < definition.input_count; ++i) {
    const eph_parameter& input = definition.inputs[i];
    schema.Input(static_cast<int>(i), std::string(eph::view(input.name)), "", type_of(input),
                 option_of(input), (input.flags & EPH_PARAMETER_HETEROGENEOUS) == 0);
  }
  for (uint64_t i = 0; i < definition.output_count; ++i) {
    const eph_parameter& output = definition.outputs[i];
    schema.Output(static_cast<int>(i), std::string(eph::view(output.name)), "", type_of(output),
                  option_of(output));
  }
  for (uint64_t i = 0; i < definition.attribute_count; ++i) {
    const eph_attribute_def& attribute = definition.attributes[i];
    schema.Attr(std::string(eph::view(attribute.name)), "",
                static_cast<onnx::AttributeProto::AttributeType>(attribute.kind),
                attribute.is_required != 0);
  }
  for (const auto& [name, set] : types) schema.TypeConstraint(name, type_names(set), "");
  schema.Finalize();
  return schema;
}

}  // namespace

const OpSchema* find_microsoft_schema(const std::string& op_type) {
  static std::map<std::string, OpSchema> known;
  const auto found = known.find(op_type);
  if (found != known.end()) return &found->second;
  const eph_operator_def* definition = find_definition(op_type);
  return definition == nullptr ? nullptr
                               : &known.emplace(op_type, make_schema(*definition)).first->second;
}

}  // namespace ephost::test
