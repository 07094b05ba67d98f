#include "host/optimize/constant_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::constant_nodes_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using ::testing::ElementsAre;

template <class Element>
std::vector<Element> elements(const Tensor& tensor) {
  std::vector<Element> result(tensor.data.bytes.size() / sizeof(Element));
  if (!result.empty())
    std::memcpy(result.data(), tensor.data.bytes.data(), tensor.data.bytes.size());
  return result;
}

std::optional<Tensor> constant_with(std::string name, graph::AttributeValue value) {
  const Graph graph = GraphBuilder()
                          .node("Constant", {}, {"y"})
                          .attribute(std::move(name), std::move(value))
                          .build();
  return value_of_constant_node(graph, graph.nodes[0]);
}

std::optional<Tensor> shape_of(Shape shape, std::vector<std::pair<std::string, int64_t>> range) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, std::move(shape)))
      .node("Shape", {"x"}, {"y"});
  for (auto& [name, value] : range) builder.attribute(name, value);
  const Graph graph = builder.build();
  return value_of_constant_node(graph, graph.nodes[0]);
}

TEST(ConstantNodes, TakeATensorAsItIs) {
  const Tensor tensor = graph::testing::float_tensor({1, 2});
  const auto value = constant_with("value", tensor);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->data.bytes.data(), tensor.data.bytes.data());
}

TEST(ConstantNodes, KnowEveryFormOfConstant) {
  const auto number = constant_with("value_float", 2.5f);
  ASSERT_TRUE(number);
  EXPECT_EQ(number->type, ElementType::kFloat);
  EXPECT_EQ(number->shape, Shape{});
  EXPECT_THAT(elements<float>(*number), ElementsAre(2.5f));

  const auto integer = constant_with("value_int", int64_t{7});
  ASSERT_TRUE(integer);
  EXPECT_EQ(integer->shape, Shape{});
  EXPECT_THAT(elements<int64_t>(*integer), ElementsAre(7));

  const auto numbers = constant_with("value_floats", std::vector<float>{1, 2});
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->shape, Shape{2});
  EXPECT_THAT(elements<float>(*numbers), ElementsAre(1, 2));

  const auto integers = constant_with("value_ints", std::vector<int64_t>{3, 4, 5});
  ASSERT_TRUE(integers);
  EXPECT_EQ(integers->shape, Shape{3});
  EXPECT_THAT(elements<int64_t>(*integers), ElementsAre(3, 4, 5));

  const auto text = constant_with("value_string", std::string("a"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->type, ElementType::kString);
  EXPECT_EQ(text->shape, Shape{});
  EXPECT_THAT(*text->strings, ElementsAre("a"));

  const auto texts = constant_with("value_strings", std::vector<std::string>{"a", "b"});
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->shape, Shape{2});
  EXPECT_THAT(*texts->strings, ElementsAre("a", "b"));
}

TEST(ConstantNodes, MakeSparseConstantsDense) {
  graph::SparseTensor sparse{.values = graph::testing::float_tensor({5, 7}),
                             .indices = graph::testing::int64_tensor({1, 3}),
                             .shape = {2, 2}};
  const auto dense = constant_with("sparse_value", sparse);
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense->shape, (Shape{2, 2}));
  EXPECT_THAT(elements<float>(*dense), ElementsAre(0, 5, 0, 7));
  sparse.indices = graph::testing::int64_tensor({1, 4});
  EXPECT_FALSE(constant_with("sparse_value", sparse));
}

TEST(ConstantNodes, LeaveInvalidConstants) {
  EXPECT_FALSE(constant_with("sparse_value", graph::SparseTensor{}));
  EXPECT_FALSE(constant_with("value", int64_t{1}));
  EXPECT_FALSE(constant_with("value_float", int64_t{1}));
  EXPECT_FALSE(constant_with("value_ints", std::vector<float>{1}));
  EXPECT_FALSE(constant_with("value_floats", std::vector<int64_t>{1}));
  EXPECT_FALSE(constant_with("value_strings", std::vector<int64_t>{1}));
}

TEST(ConstantNodes, KnowStaticShapes) {
  const auto value = shape_of({2, 3, 4}, {});
  ASSERT_TRUE(value);
  EXPECT_EQ(value->type, ElementType::kInt64);
  EXPECT_THAT(elements<int64_t>(*value), ElementsAre(2, 3, 4));
  EXPECT_FALSE(shape_of({2, graph::kUnknownDim}, {}));
  EXPECT_EQ(shape_of({}, {})->shape, Shape{0});
}

TEST(ConstantNodes, SliceShapesAsAsked) {
  EXPECT_THAT(elements<int64_t>(*shape_of({2, 3, 4}, {{"start", 1}})), ElementsAre(3, 4));
  EXPECT_THAT(elements<int64_t>(*shape_of({2, 3, 4}, {{"end", -1}})), ElementsAre(2, 3));
  EXPECT_THAT(elements<int64_t>(*shape_of({2, 3, 4}, {{"start", -2}, {"end", 99}})),
              ElementsAre(3, 4));
  EXPECT_THAT(elements<int64_t>(*shape_of({2, 3}, {{"start", INT64_MIN}, {"end", INT64_MAX}})),
              ElementsAre(2, 3));
  EXPECT_EQ(shape_of({2, 3}, {{"start", 2}, {"end", 1}})->shape, Shape{0});
}

TEST(ConstantNodes, KnowTheSizeOfStaticShapes) {
  const Graph graph = GraphBuilder()
                          .input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
                          .node("Size", {"x"}, {"y"})
                          .build();
  const auto value = value_of_constant_node(graph, graph.nodes[0]);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->shape, Shape{});
  EXPECT_THAT(elements<int64_t>(*value), ElementsAre(6));
}

TEST(ConstantNodes, IgnoreNodesOfTheSameNameInOtherDomains) {
  Graph graph =
      GraphBuilder().node("Constant", {}, {"y"}).attribute("value_int", int64_t{1}).build();
  graph.nodes[0].domain = "com.example";
  EXPECT_FALSE(value_of_constant_node(graph, graph.nodes[0]));
}

}  // namespace
}  // namespace ephost::optimize::constant_nodes_test
