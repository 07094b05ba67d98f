// Models with control flow, made by hand and written as ONNX.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "host/onnx_io/export/export.h"
#include "tests/integration/session/sample.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::test {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;

inline graph::ValueType float_type(std::optional<graph::Shape> shape = std::nullopt) {
  return tensor_type(ElementType::kFloat, std::move(shape));
}
inline const graph::ValueType kInt64Scalar = tensor_type(ElementType::kInt64, graph::Shape{});
inline const graph::ValueType kBoolScalar = tensor_type(ElementType::kBool, graph::Shape{});

inline graph::Tensor bool_scalar(bool flag) {
  return graph::testing::make_tensor<char>(ElementType::kBool, {}, {static_cast<char>(flag)});
}

// Gives a value of a finished graph its type: outputs of graphs must have one.
inline graph::Graph with_type(graph::Graph graph, std::string_view value,
                              const graph::ValueType& type) {
  graph.values[graph.find_value(value)].type = type;
  return graph;
}

// Symbolic dimensions are "n", if there are any.
inline std::filesystem::path write_model(const std::filesystem::path& file, graph::Graph graph,
                                         int64_t opset = 16) {
  graph::Model model;
  model.graph = std::move(graph);
  model.graph.name = "flow";
  model.symbols = {"n"};
  model.ir_version = 8;
  model.opset_imports = {{"", opset}, {"example.test", 1}};
  const auto exported = onnx_io::export_model(model);
  EXPECT_THAT(exported, IsOk());
  const Status written = exported->write(file);
  EXPECT_THAT(written, IsOk());
  return file;
}

inline NamedValue named_floats(std::string name, std::vector<int64_t> shape,
                               const std::vector<float>& elements) {
  return {std::move(name), *Value::of<float>(std::move(shape), elements)};
}
inline NamedValue named_int64(std::string name, int64_t number) {
  return {std::move(name), *Value::of<int64_t>({}, std::vector<int64_t>{number})};
}
inline NamedValue named_bool(std::string name, bool flag) {
  Value value = *Value::allocate(ElementType::kBool, {});
  value.mutable_elements<bool>()[0] = flag;
  return {std::move(name), std::move(value)};
}
inline std::vector<float> floats_of(const Value& value) {
  const auto elements = value.elements<float>();
  return {elements.begin(), elements.end()};
}

// y = fold over `count` iterations of v -> condition ? relu(v * h) + x : v - h, from x on, where
// h = -x is computed outside and read by the branches only; `trace` stacks all v. Every graph has
// something to compile: the main one, the loop's body and both branches.
inline graph::Graph nested_flow() {
  const graph::ValueType type = float_type(graph::Shape{2});
  GraphBuilder main;
  main.input("count", kInt64Scalar).input("condition", kBoolScalar).input("x", type);
  main.node("Neg", {"x"}, {"h"});
  GraphBuilder body;
  body.input("i", kInt64Scalar).input("goes_on", kBoolScalar).input("v", type);
  body.capture("condition", main.value("condition")).capture("x", main.value("x"));
  body.capture("h", main.value("h"));
  GraphBuilder then_branch;
  then_branch.capture("v", body.value("v")).capture("x", body.value("x"));
  then_branch.capture("h", body.value("h"));
  then_branch.node("Mul", {"v", "h"}, {"m"}).node("Relu", {"m"}, {"r"});
  then_branch.node("Add", {"r", "x"}, {"a"}).output("a");
  GraphBuilder else_branch;
  else_branch.capture("v", body.value("v")).capture("h", body.value("h"));
  else_branch.node("Sub", {"v", "h"}, {"s"}).output("s");
  body.node("If", {"condition"}, {"w"})
      .subgraph("then_branch", with_type(then_branch.build(), "a", type))
      .subgraph("else_branch", with_type(else_branch.build(), "s", type));
  body.node("Identity", {"w"}, {"t"}).output("goes_on").output("w").output("t");
  graph::Graph inner = with_type(with_type(body.build(), "w", type), "t", type);
  inner.nodes[0].name = "choice";
  main.node("Loop", {"count", "", "x"}, {"y", "trace"}).subgraph("body", std::move(inner));
  main.node("Relu", {"y"}, {"z"}).output("z").output("trace");
  graph::Graph graph = with_type(main.build(), "z", type);
  graph.nodes[1].name = "loop";
  return with_type(std::move(graph), "trace", float_type(graph::Shape{-1, 2}));
}

inline std::vector<NamedValue> nested_flow_inputs(int64_t count, bool condition,
                                                  const std::vector<float>& x) {
  return {named_int64("count", count), named_bool("condition", condition),
          named_floats("x", {2}, x)};
}

// The expected result of nested_flow.
inline void expect_nested_flow(const std::vector<Value>& outputs, int64_t count, bool condition,
                               const std::vector<float>& x) {
  std::vector<float> v = x;
  std::vector<float> trace;
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < v.size(); ++k) {
      v[k] = condition ? std::max(v[k] * -x[k], 0.0F) + x[k] : v[k] + x[k];
    }
    trace.insert(trace.end(), v.begin(), v.end());
  }
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_THAT(outputs[1].shape(), ::testing::ElementsAre(count, 2));
  EXPECT_EQ(floats_of(outputs[1]), trace);
  for (float& element : v) element = std::max(element, 0.0F);
  EXPECT_EQ(floats_of(outputs[0]), v);
}

}  // namespace ephost::test
