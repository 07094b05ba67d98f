#include "host/optimize/fold_work.h"

#include <gtest/gtest.h>

namespace ephost::optimize::fold_work_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

// Only its shape matters.
Tensor zeros(Shape shape) {
  const size_t bytes = *graph::byte_size(ElementType::kFloat, shape);
  return {.type = ElementType::kFloat,
          .shape = std::move(shape),
          .data = graph::make_blob(std::vector<std::byte>(bytes))};
}

// The work of one node with such constants and an output of that shape, beyond the cost of each
// call.
std::optional<uint64_t> work(std::string_view op, const std::vector<Shape>& inputs,
                             std::optional<Shape> output, std::string attribute = {},
                             graph::AttributeValue setting = {}) {
  graph::Node node{.op_type = std::string(op)};
  Graph graph;
  for (const Shape& shape : inputs) {
    graph::Value value{.name = "c" + std::to_string(node.inputs.size())};
    value.initializer = static_cast<uint32_t>(graph.initializers.size());
    graph.initializers.push_back(zeros(shape));
    node.inputs.push_back(graph.add_value(std::move(value)));
  }
  node.outputs = {graph.add_value({.name = "y"})};
  graph.values.back().type = {.kind = graph::ValueKind::kTensor,
                              .element = ElementType::kFloat,
                              .shape = std::move(output)};
  node.attributes.push_back({std::move(attribute), std::move(setting)});
  const std::optional<uint64_t> all = evaluation_work(graph, node);
  return all ? std::optional(*all - kEvaluationWork) : std::nullopt;
}

TEST(EvaluationWork, IsWhatIsReadAndWritten) {
  EXPECT_EQ(work("Add", {{2, 3}, {3}}, Shape{2, 3}), 6U + 3U + 6U);
}

TEST(EvaluationWork, CountsNothingForAnOutputOfOpenSize) {
  EXPECT_EQ(work("NonZero", {{10}}, std::nullopt), 10U);
  EXPECT_EQ(work("NonZero", {{10}}, Shape{1, graph::kUnknownDim}), 10U);
}

TEST(EvaluationWork, CountsTheMultiplicationsOfProductsAndConvolutions) {
  EXPECT_EQ(work("MatMul", {{4, 5}, {5, 6}}, Shape{4, 6}), 20U + 30U + 24U + 24U * 5U);
  EXPECT_EQ(work("MatMul", {{7, 4, 5}, {7, 5, 6}}, Shape{7, 4, 6}), 140U + 210U + 168U + 840U);
  EXPECT_EQ(work("Gemm", {{5, 4}, {5, 6}}, Shape{4, 6}, "transA", int64_t{1}),
            20U + 30U + 24U + 24U * 5U);
  EXPECT_EQ(work("Conv", {{1, 2, 8}, {4, 2, 3}}, Shape{1, 4, 6}), 16U + 24U + 24U + 24U * 6U);
  EXPECT_EQ(work("ConvTranspose", {{1, 2, 8}, {2, 4, 3}}, std::nullopt), 16U + 24U + 16U * 12U);
  EXPECT_EQ(work("MaxPool", {{1, 1, 9}}, Shape{1, 1, 7}, "kernel_shape", std::vector<int64_t>{3}),
            9U + 7U + 21U);
  EXPECT_EQ(work("LSTM", {{5, 1, 2}, {1, 12, 2}, {1, 12, 3}}, std::nullopt),
            10U + 24U + 36U + 5U * 60U);
}

TEST(EvaluationWork, IsUnknownWhereItDependsOnAnOutputOfOpenSize) {
  EXPECT_EQ(work("Conv", {{1, 2, 8}, {4, 2, 3}}, std::nullopt), std::nullopt);
}

TEST(EvaluationWork, TakesAnEinsumForAnOuterProduct) {
  EXPECT_EQ(work("Einsum", {{10}, {20}}, Shape{10, 20}), 10U + 20U + 200U + 200U);
}

TEST(EvaluationWork, SaturatesWhereExtentsMultiplyBeyondAllBounds) {
  EXPECT_EQ(work("Einsum", std::vector<Shape>(40, Shape{1000}), std::nullopt),
            UINT64_MAX - kEvaluationWork);
  EXPECT_EQ(work("Expand", {{1}}, Shape{INT64_MAX, INT64_MAX}), UINT64_MAX - kEvaluationWork);
}

TEST(EvaluationWork, CountsTheTextOfStrings) {
  Tensor text{.type = ElementType::kString, .shape = {2}};
  text.strings =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"", "abcd"});
  EXPECT_EQ(access_work(text), 2U * 16U + 4U);
}

}  // namespace
}  // namespace ephost::optimize::fold_work_test
