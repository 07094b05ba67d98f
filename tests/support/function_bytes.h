// Functions of models, for tests that don't link onnx: FunctionProto in protobuf's wire format.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::test {

// Numbers of fields as in onnx.proto; short contents only.
inline std::string bytes_field(uint32_t number, std::string_view content) {
  if (number > 15 || content.size() > 127) throw std::invalid_argument("too long for one byte");
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         std::string(content);
}

struct FunctionNode {
  std::string op_type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string domain = {};

  [[nodiscard]] std::string to_bytes() const {
    std::string bytes;
    for (const std::string& name : inputs) bytes += bytes_field(1, name);
    for (const std::string& name : outputs) bytes += bytes_field(2, name);
    return bytes + bytes_field(4, op_type) + bytes_field(7, domain);
  }
};

// y = `name`(x), made of the nodes, which are of the model's opset.
inline graph::Function function_of_x(std::string_view domain, std::string_view name,
                                     std::initializer_list<FunctionNode> nodes) {
  std::string bytes = bytes_field(1, name) + bytes_field(4, "x") + bytes_field(5, "y");
  for (const FunctionNode& node : nodes) bytes += bytes_field(7, node.to_bytes());
  bytes += bytes_field(10, domain);
  return {std::string(domain), std::string(name), "", std::move(bytes)};
}

}  // namespace ephost::test
