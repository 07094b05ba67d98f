// microsoft_schemas.h: the operators of com.microsoft that the CPU plugin defines, in onnx's form.
#pragma once

#include <string>

namespace onnx {
class OpSchema;
}

namespace ephost::test {

// Null if the plugin does not define the operator. Lives until the end.
const onnx::OpSchema* find_microsoft_schema(const std::string& op_type);

}  // namespace ephost::test
