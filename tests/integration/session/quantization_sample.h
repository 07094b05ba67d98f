// Sessions of models with QuantizeLinear and DequantizeLinear nodes, with the scripted provider.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::test {

inline graph::Tensor scalar(float number) {
  return graph::testing::make_tensor<float>(ElementType::kFloat, {}, {number});
}
inline graph::Tensor bytes(ElementType type, graph::Shape shape, const std::vector<int>& numbers) {
  return graph::testing::make_tensor<char>(type, std::move(shape),
                                           {numbers.begin(), numbers.end()});
}

// The operators of a graph's nodes.
inline std::vector<std::string> operators_of(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Node& node : graph.nodes) names.push_back(node.op_type);
  return names;
}

inline SessionOptions without(const std::string& optimizer, SessionOptions options = {}) {
  options.add_config_entry("optimization.disable_specified_optimizers", optimizer);
  return options;
}
inline constexpr const char* kFormer = "QDQSelectorActionTransformer";

class QuantizationSession : public ::testing::Test {
 protected:
  // Returns nothing if preparing the model failed.
  std::vector<std::string> operators_at(session::Stage stage, const SessionOptions& options = {}) {
    const auto prepared = prepare_inside(scripted_environment(), model_, options, stage);
    EXPECT_THAT(prepared, IsOk());
    return prepared.ok() ? operators_of(prepared->model.graph) : std::vector<std::string>();
  }
  std::vector<Value> run(const SessionOptions& options = {}) {
    auto session = Session::create(scripted_environment(), model_, options);
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return {};
    auto outputs = test::run(*session);
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? std::move(outputs).value() : std::vector<Value>();
  }

  // y = Relu(DQ(Q(MatMul(DQ(Q(x)), DQ(w))))) + DQ(v)
  void save_product() {
    model_ = save(
        folder_,
        model_of(
            graph::testing::GraphBuilder()
                .input("x", graph::testing::tensor_type(ElementType::kFloat, graph::Shape{2, 3}))
                .constant("s", scalar(0.0625F))
                .constant("z", bytes(ElementType::kUint8, {}, {100}))
                .constant("w", bytes(ElementType::kInt8, {3, 2}, {1, -2, 3, -4, 5, -6}))
                .constant("v", bytes(ElementType::kInt8, {2}, {7, -8}))
                .node("QuantizeLinear", {"x", "s", "z"}, {"qx"})
                .node("DequantizeLinear", {"qx", "s", "z"}, {"fx"})
                .node("DequantizeLinear", {"w", "s"}, {"fw"})
                .node("MatMul", {"fx", "fw"}, {"fm"})
                .node("QuantizeLinear", {"fm", "s", "z"}, {"qm"})
                .node("DequantizeLinear", {"qm", "s", "z"}, {"m"})
                .node("Relu", {"m"}, {"r"})
                .node("DequantizeLinear", {"v", "s"}, {"fv"})
                .node("Add", {"r", "fv"}, {"y"})
                .output("y")
                .build()));
  }

  TempDirectory folder_;
  std::filesystem::path model_;
};

}  // namespace ephost::test
