#include "host/optimize/block_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "host/graph/checks.h"
#include "host/optimize/dead_code.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::block_products_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::NodeId;
using graph::Shape;
using graph::Tensor;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr int64_t kRows = 20;  // more than one block, and not whole blocks
constexpr int64_t kColumns = 3;
constexpr int64_t kBlocks = 2;

// What element (row, column) stands for, from 0 on.
int code(int64_t row, int64_t column, int bits) {
  return static_cast<int>((row * 7 + column * 5 + 3) % (1 << bits));
}

Tensor codes(ElementType type, int64_t rows, int64_t columns) {
  const auto bits = static_cast<int>(graph::element_bits(type));
  const bool is_signed = type == ElementType::kInt8 || type == ElementType::kInt4;
  std::vector<uint8_t> bytes(static_cast<size_t>((rows * columns * bits + 7) / 8));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int number = code(i / columns, i % columns, bits) ^ (is_signed ? 1 << (bits - 1) : 0);
    bytes[static_cast<size_t>(i * bits / 8)] |= static_cast<uint8_t>(number << i * bits % 8);
  }
  return {
      .type = type,
      .shape = {rows, columns},
      .data = make_tensor<uint8_t>(ElementType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes)
                  .data};
}

//   y = MatMul(a, DequantizeLinear(w, s, z))
struct Product {
  ElementType type = ElementType::kInt4;
  bool has_zeros = false;
  int64_t axis = 0;
  int64_t block = 16;
  int32_t version = 21;
  int64_t scale_rows = kBlocks;
  bool dequantizes_left = false;
  std::string second_output;
  ElementType a_type = ElementType::kFloat;

  [[nodiscard]] Graph graph() const {
    GraphBuilder builder;
    std::vector<float> scales;
    for (int64_t i = 0; i < scale_rows * kColumns; ++i) scales.push_back(static_cast<float>(i));
    Tensor scale = float_tensor(scales);
    scale.shape = {scale_rows, kColumns};
    builder.input("a", tensor_type(a_type, Shape{2, kRows}))
        .constant("w", codes(type, kRows, kColumns))
        .constant("s", scale)
        .constant("z", codes(type, kBlocks, kColumns));
    if (has_zeros) {
      builder.node("DequantizeLinear", {"w", "s", "z"}, {"fw"});
    } else {
      builder.node("DequantizeLinear", {"w", "s"}, {"fw"});
    }
    builder.attribute("axis", axis).attribute("block_size", block);
    if (dequantizes_left) {
      builder.node("MatMul", {"fw", "a"}, {"y"});
    } else {
      builder.node("MatMul", {"a", "fw"}, {"y"});
    }
    builder.output("y");
    if (!second_output.empty()) builder.output(second_output);
    Graph graph = builder.build();
    graph.values[graph.find_value("fw")].type =
        tensor_type(ElementType::kFloat, Shape{kRows, kColumns});
    graph.values[graph.find_value("y")].type = tensor_type(ElementType::kFloat);
    for (graph::Node& node : graph.nodes) node.since_version = version;
    return graph;
  }
};

QuantizedOperators all() {
  return {.is_free = [](NodeId) { return true; },
          .has_kernel = [](const graph::Node&) { return true; },
          .opset = 21};
}

std::vector<std::string> operators_of(Graph& graph, const QuantizedOperators& options = all()) {
  UniqueNames names(graph);
  form_block_products(graph, options, names);
  EXPECT_EQ(check_graph(graph).message(), "");
  remove_bare_nodes(graph, options.is_free);
  EXPECT_EQ(check_graph(graph).message(), "");
  std::vector<std::string> operators;
  for (const graph::Node& node : graph.nodes) operators.push_back(node.op_type);
  return operators;
}
std::vector<std::string> operators_of(const Product& product,
                                      const QuantizedOperators& options = all()) {
  Graph graph = product.graph();
  return operators_of(graph, options);
}

const std::vector<std::string> kUnchanged = {"DequantizeLinear", "MatMul"};

std::vector<int> bytes_of(const Graph& graph, const graph::Node& node, size_t input) {
  std::vector<int> bytes;
  for (const std::byte byte : graph.constant(node.inputs[input])->data.bytes) {
    bytes.push_back(std::to_integer<int>(byte));
  }
  return bytes;
}

// The codes column by column, with those beyond the rows zero.
std::vector<int> packed(int64_t rows, int64_t length, int bits) {
  const auto stride = static_cast<size_t>((length * bits + 7) / 8);
  std::vector<int> bytes(stride * kColumns);
  for (int64_t c = 0; c < kColumns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      bytes[static_cast<size_t>(c) * stride + static_cast<size_t>(r * bits / 8)] |= code(r, c, bits)
                                                                                    << r * bits % 8;
    }
  }
  return bytes;
}

TEST(BlockProducts, StoreTheSameIntegersByColumn) {
  for (const ElementType type :
       {ElementType::kInt4, ElementType::kUint4, ElementType::kInt8, ElementType::kUint8}) {
    for (const bool has_zeros : {false, true}) {
      Graph graph = Product{.type = type, .has_zeros = has_zeros}.graph();
      ASSERT_THAT(operators_of(graph), ElementsAre("MatMulNBits"));
      const graph::Node& node = graph.nodes[0];
      const auto bits = static_cast<int>(graph::element_bits(type));
      const bool is_signed = type == ElementType::kInt8 || type == ElementType::kInt4;
      EXPECT_EQ(node.domain, "com.microsoft");
      EXPECT_EQ(node.integer("K"), kRows);
      EXPECT_EQ(node.integer("N"), kColumns);
      EXPECT_EQ(node.integer("bits"), bits);
      EXPECT_EQ(node.integer("block_size"), 16);
      EXPECT_THAT(bytes_of(graph, node, 1), ElementsAreArray(packed(kRows, 32, bits)));
      EXPECT_EQ(graph.constant(node.inputs[1])->shape, (Shape{kColumns, kBlocks, 2 * bits}));
      const Tensor* scales = graph.constant(node.inputs[2]);
      EXPECT_EQ(scales->shape, (Shape{kColumns, kBlocks}));
      const std::vector<float> by_column = {0, 3, 1, 4, 2, 5};
      EXPECT_EQ(std::memcmp(scales->data.bytes.data(), by_column.data(), 24), 0);
      // Numbers with a sign have their zero in the middle unless it is stated.
      ASSERT_EQ(node.inputs.size(), has_zeros || !is_signed ? 4U : 3U);
      if (node.inputs.size() == 3) continue;
      const std::vector<int> zeros =
          has_zeros ? packed(kBlocks, kBlocks, bits)
                    : std::vector<int>(static_cast<size_t>(kColumns * (kBlocks * bits / 8)));
      EXPECT_THAT(bytes_of(graph, node, 3), ElementsAreArray(zeros));
    }
  }
}

TEST(BlockProducts, NeedBlocksOfTheOperator) {
  EXPECT_THAT(operators_of({.axis = -2}), ElementsAre("MatMulNBits"));
  EXPECT_EQ(operators_of({.axis = 1}), kUnchanged);
  EXPECT_EQ(operators_of({.block = 24}), kUnchanged);
  EXPECT_EQ(operators_of({.block = 8, .scale_rows = 3}), kUnchanged);
  EXPECT_EQ(operators_of({.block = 0}), kUnchanged);
  EXPECT_EQ(operators_of({.scale_rows = 3}), kUnchanged);
  EXPECT_EQ(operators_of({.version = 19}), kUnchanged);
  EXPECT_EQ(operators_of({.a_type = ElementType::kFloat16}), kUnchanged);
}

TEST(BlockProducts, NeedWeightsThatOnlyProductsRead) {
  EXPECT_EQ(operators_of({.second_output = "fw"}), kUnchanged);
  EXPECT_EQ(operators_of({.dequantizes_left = true}), kUnchanged);
}

TEST(BlockProducts, NeedAKernelAndFreeNodes) {
  QuantizedOperators options = all();
  options.has_kernel = [](const graph::Node&) { return false; };
  EXPECT_EQ(operators_of({}, options), kUnchanged);
  for (const NodeId taken : {0U, 1U}) {
    options = all();
    options.is_free = [=](NodeId id) { return id != taken; };
    EXPECT_EQ(operators_of({}, options), kUnchanged) << taken;
  }
}

}  // namespace
}  // namespace ephost::optimize::block_products_test
