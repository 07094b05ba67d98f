// onnx_attributes.h: the attributes that operators have, for tests that make nodes up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ephost::test {

struct OnnxAttribute {
  std::string name;
  int32_t kind;  // EPH_ATTRIBUTE_...
};

// Of all versions of the operator of ai.onnx, also those that the linked onnx doesn't know.
std::vector<OnnxAttribute> onnx_attributes(const std::string& op_type);

}  // namespace ephost::test
