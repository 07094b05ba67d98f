#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::import_attributes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::Graph;
using graph::Model;
using graph::Shape;

TEST(ImportAttributes, ReadsEveryKindOfAttribute) {
  onnx::ModelProto proto = empty_model();
  add_opset(proto, "com.example", 1);
  onnx::NodeProto& node = add_node(*proto.mutable_graph(), "Any", {}, {"y"});
  node.set_domain("com.example");
  add_output(*proto.mutable_graph(), "y", {1});
  using Type = onnx::AttributeProto;
  add_attribute(node, "i", Type::INT).set_i(3);
  add_attribute(node, "f", Type::FLOAT).set_f(0.5f);
  add_attribute(node, "s", Type::STRING).set_s("text");
  add_attribute(node, "large", Type::STRING).set_s(std::string(2000, 'x'));
  auto& tensor = *add_attribute(node, "t", Type::TENSOR).mutable_t();
  tensor.set_data_type(onnx::TensorProto::INT8);
  tensor.set_raw_data("a");
  auto& sparse = *add_attribute(node, "st", Type::SPARSE_TENSOR).mutable_sparse_tensor();
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(0);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(0);
  sparse.add_dims(4);
  add_attribute(node, "tp", Type::TYPE_PROTO).mutable_tp()->mutable_tensor_type()->set_elem_type(1);
  add_attribute(node, "g", Type::GRAPH).mutable_g()->set_name("inner");
  set_ints(node, "is", {1, 2});
  add_attribute(node, "fs", Type::FLOATS).add_floats(1);
  add_attribute(node, "ss", Type::STRINGS).add_strings("a");
  *add_attribute(node, "ts", Type::TENSORS).add_tensors() = tensor;
  *add_attribute(node, "sts", Type::SPARSE_TENSORS).add_sparse_tensors() = sparse;
  add_attribute(node, "tps", Type::TYPE_PROTOS).add_type_protos();
  add_attribute(node, "gs", Type::GRAPHS).add_graphs()->set_name("listed");
  set_ints(node, "none", {});

  const Model model = import(proto);
  const graph::Node& read = model.graph.nodes[0];
  EXPECT_EQ(read.since_version, 1);
  EXPECT_EQ(read.integer("i"), 3);
  EXPECT_EQ(std::get<float>(*read.attribute("f")), 0.5f);
  EXPECT_EQ(read.string("s"), "text");
  EXPECT_TRUE(std::holds_alternative<std::string>(*read.attribute("s")));
  EXPECT_EQ(read.string("large"), std::string(2000, 'x'));
  EXPECT_TRUE(std::holds_alternative<graph::Blob>(*read.attribute("large")));
  EXPECT_EQ(std::get<graph::Tensor>(*read.attribute("t")).data.bytes.size(), 1u);
  EXPECT_EQ(std::get<graph::SparseTensor>(*read.attribute("st")).shape, Shape{4});
  EXPECT_EQ(std::get<graph::ValueType>(*read.attribute("tp")).element, graph::ElementType::kFloat);
  ASSERT_NE(read.subgraph("g"), nullptr);
  EXPECT_EQ(read.subgraph("g")->name, "inner");
  EXPECT_THAT(std::get<std::vector<int64_t>>(*read.attribute("is")), ElementsAre(1, 2));
  EXPECT_THAT(std::get<std::vector<float>>(*read.attribute("fs")), ElementsAre(1));
  EXPECT_THAT(std::get<std::vector<std::string>>(*read.attribute("ss")), ElementsAre("a"));
  EXPECT_EQ(std::get<std::vector<graph::Tensor>>(*read.attribute("ts")).size(), 1u);
  EXPECT_EQ(std::get<std::vector<graph::SparseTensor>>(*read.attribute("sts")).size(), 1u);
  EXPECT_EQ(std::get<std::vector<graph::ValueType>>(*read.attribute("tps")).size(), 1u);
  EXPECT_EQ(std::get<std::vector<std::unique_ptr<Graph>>>(*read.attribute("gs"))[0]->name,
            "listed");
  EXPECT_THAT(std::get<std::vector<int64_t>>(*read.attribute("none")), IsEmpty());
}

TEST(ImportAttributes, RefusesAttributesThatContradictThemselves) {
  const auto refusal = [](const std::function<void(onnx::AttributeProto&)>& damage,
                          const std::string& message) {
    onnx::ModelProto proto = small_model();
    onnx::NodeProto& node = *proto.mutable_graph()->mutable_node(1);
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("a");
    damage(attribute);
    expect_refusal(proto, "attribute \"a\" of Relu node \"node_y\": " + message);
  };
  using Type = onnx::AttributeProto;
  refusal([](Type& a) { a.set_type(Type::INT); }, "it has no value");
  refusal([](Type&) {}, "it has neither a type nor a value");
  refusal([](Type& a) { a.set_type(Type::INT), a.set_f(1); },
          "its value does not have the stated type");
  refusal([](Type& a) { a.set_type(Type::INT), a.set_i(1), a.set_f(1); },
          "it holds values of several types");
  refusal([](Type& a) { a.set_type(Type::INT), a.set_i(1), a.set_ref_attr_name("b"); },
          "it refers to an attribute of a function");
  refusal([](Type& a) { a.set_type(Type::TENSOR), a.mutable_t()->set_data_type(99); },
          "tensor: its element type is 99");
}

TEST(ImportAttributes, InfersTheTypeOfAnAttributeThatStatesNone) {
  onnx::ModelProto proto = empty_model(1, 1);
  add_input(*proto.mutable_graph(), "x", {1});
  add_node(*proto.mutable_graph(), "Cast", {"x"}, {"y"}).add_attribute()->set_name("to");
  proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_s("FLOAT");
  add_output(*proto.mutable_graph(), "y", {1});
  EXPECT_EQ(import(proto).graph.nodes[0].string("to"), "FLOAT");
}

TEST(ImportAttributes, RefusesAttributesThatStandTwice) {
  onnx::ModelProto proto = small_model();
  set_int(*proto.mutable_graph()->mutable_node(1), "a", 1);
  set_int(*proto.mutable_graph()->mutable_node(1), "a", 2);
  expect_refusal(proto, "attribute \"a\" of Relu node \"node_y\" occurs twice");
  proto.mutable_graph()->mutable_node(1)->mutable_attribute(0)->clear_name();
  expect_refusal(proto, "of Relu node \"node_y\" has no name");
}

TEST(ImportAttributes, ReadsANodeWithManyInputsAndAttributes) {
  constexpr int kCount = 50'000;
  onnx::ModelProto proto = empty_model();
  add_opset(proto, "com.example", 1);
  onnx::NodeProto& node = add_node(*proto.mutable_graph(), "Any", {}, {});
  node.set_domain("com.example");
  for (int i = 0; i < kCount; ++i) {
    add_input(*proto.mutable_graph(), "x" + std::to_string(i), {});
    node.add_input("x" + std::to_string(i));
    node.add_output("y" + std::to_string(i));
    set_int(node, "a" + std::to_string(i), i);
  }
  EXPECT_EQ(import(proto).graph.nodes[0].attributes.size(), size_t{kCount});
}

}  // namespace
}  // namespace ephost::onnx_io::import_attributes_test
