// onnx_node_test.h: the ONNX backend tests that consist of one node, read into
// single_node_graph.h's terms. The only place of these tests that includes onnx.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/single_node_graph.h"

namespace ephost::test {

struct OnnxNodeTest {
  std::string name;  // of the folder
  std::string op_type;
  int32_t since_version = 0;
  std::vector<std::optional<Tensor>> inputs;
  std::vector<std::optional<Tensor>> expected;  // by output of the node
  std::vector<std::pair<std::string, NodeAttribute>> attributes;

  // The node, on request with all inputs but the first as constants.
  [[nodiscard]] std::unique_ptr<SingleNodeGraph> graph(Stated stated, bool with_constants) const;
};

// The tests below `folder` whose model is one node over tensors, sorted by name.
std::vector<OnnxNodeTest> read_onnx_node_tests(const std::filesystem::path& folder);

}  // namespace ephost::test
