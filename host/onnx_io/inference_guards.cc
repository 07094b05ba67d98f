#include "host/onnx_io/inference_guards.h"

#include <onnx/defs/data_type_utils.h>

#include <algorithm>
#include <exception>
#include <string>

namespace ephost::onnx_io {
namespace {

Status invalid(const std::string& message) { return {StatusCode::kInvalidGraph, message}; }

// onnx's name of a type, e.g. tensor(float); null if part of it is unknown.
onnx::DataType data_type(const onnx::TypeProto& type) {
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return nullptr;
  try {
    return onnx::Utils::DataTypeUtils::ToType(type);
  } catch (const std::exception&) {
    return nullptr;
  }
}

Status check_input_types(const onnx::OpSchema& schema, const NodeFacts& facts) {
  const auto& formal = schema.inputs();
  if (formal.empty()) return {};
  for (size_t i = 0; i < facts.types.size(); ++i) {
    if (!facts.types[i]) continue;
    const onnx::DataType found = data_type(*facts.types[i]);
    const auto& parameter = formal[std::min(i, formal.size() - 1)];
    if (found && !parameter.GetTypes().contains(found)) {
      return invalid("input " + std::to_string(i) + " (" + parameter.GetName() + ") must not be " +
                     *found);
    }
  }
  return {};
}

}  // namespace

Status guard_inference(const onnx::OpSchema& schema, const onnx::NodeProto& /*node*/,
                       const NodeFacts& facts) {
  return check_input_types(schema, facts);
}

}  // namespace ephost::onnx_io
