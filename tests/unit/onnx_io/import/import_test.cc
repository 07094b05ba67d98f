#include "host/onnx_io/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::import_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::Model;
using graph::testing::node_names;
using graph::testing::value_names;

TEST(Import, ReadsASmallModel) {
  const Model model = import(small_model());
  EXPECT_EQ(model.graph.name, "main");
  EXPECT_THAT(node_names(model.graph), ElementsAre("node_a", "node_y"));
  EXPECT_EQ(model.graph.nodes[0].since_version, 14);
  EXPECT_THAT(value_names(model.graph, model.graph.inputs), ElementsAre("x"));
  EXPECT_THAT(value_names(model.graph, model.graph.outputs), ElementsAre("y"));
  ASSERT_NE(model.graph.constant(model.graph.find_value("w")), nullptr);
  EXPECT_EQ(type_of(model, "a"), "float[2,3]") << "inferred";
}

TEST(Import, SortsAModelThatIsNotSorted) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->mutable_node()->SwapElements(0, 1);
  EXPECT_THAT(node_names(import(proto).graph), ElementsAre("node_a", "node_y"));
}

TEST(Import, RefusesCyclesNamingANode) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->mutable_node(0)->set_input(0, "y");
  expect_refusal(proto, "cycle through");
}

TEST(Import, RefusesInvalidNames) {
  onnx::ModelProto twice = small_model();
  twice.mutable_graph()->mutable_node(1)->set_output(0, "a");
  expect_refusal(twice, "node output \"a\" is assigned a second time");

  onnx::ModelProto missing = small_model();
  missing.mutable_graph()->mutable_node(1)->set_input(0, "nothing");
  expect_refusal(missing, "Relu node \"node_y\" reads value \"nothing\", which nothing produces");

  onnx::ModelProto lost_output = small_model();
  lost_output.mutable_graph()->mutable_output(0)->set_name("nothing");
  expect_refusal(lost_output, "graph output \"nothing\" is not produced by any node");

  onnx::ModelProto nameless = small_model();
  nameless.mutable_graph()->mutable_input(0)->set_name("");
  expect_refusal(nameless, "graph input has no name");

  onnx::ModelProto inputs = small_model();
  add_input(*inputs.mutable_graph(), "x", {1});
  expect_refusal(inputs, "graph input \"x\" is assigned a second time");

  onnx::ModelProto initializers = small_model();
  add_initializer(*initializers.mutable_graph(), "w", {1}, {1});
  expect_refusal(initializers, "initializer \"w\" occurs twice");

  onnx::ModelProto produced = small_model();
  add_initializer(*produced.mutable_graph(), "a", {1}, {1});
  expect_refusal(produced, "node output \"a\" is assigned a second time");

  onnx::ModelProto no_operator = small_model();
  no_operator.mutable_graph()->mutable_node(0)->clear_op_type();
  expect_refusal(no_operator, "has no operator");
}

TEST(Import, ADefaultOfAnInputIsNotAConstant) {
  onnx::ModelProto proto = small_model();
  add_input(*proto.mutable_graph(), "w", {3});
  const Model model = import(proto);
  const graph::Value& w = model.graph.values[model.graph.find_value("w")];
  EXPECT_TRUE(w.is_graph_input);
  EXPECT_NE(w.initializer, graph::kNoInitializer);
  EXPECT_FALSE(w.is_constant());
}

TEST(Import, BeforeIrVersion4EveryInitializerIsConstant) {
  onnx::ModelProto proto = small_model();
  proto.set_ir_version(3);
  add_input(*proto.mutable_graph(), "w", {3});
  const Model model = import(proto);
  EXPECT_THAT(value_names(model.graph, model.graph.inputs), ElementsAre("x"));
  EXPECT_TRUE(model.graph.values[model.graph.find_value("w")].is_constant());
}

TEST(Import, RefusesAnInitializerOfAnotherTypeThanDeclared) {
  onnx::ModelProto proto = small_model();
  add_input(*proto.mutable_graph(), "w", {3}, onnx::TensorProto::INT64);
  expect_refusal(proto, "initializer \"w\" is a tensor of float, but is declared as int64[3]");
}

TEST(Import, RefusesADefaultOfAnotherShapeThanDeclared) {
  for (const std::vector<int64_t>& declared :
       {std::vector<int64_t>{2}, std::vector<int64_t>{1, 3}, std::vector<int64_t>{}}) {
    onnx::ModelProto proto = small_model();
    add_input(*proto.mutable_graph(), "w", declared);
    expect_refusal(proto, "initializer \"w\" is float[3], but is declared as float[");
  }
  onnx::ModelProto open = small_model();
  add_input(*open.mutable_graph(), "w", {-1});
  EXPECT_EQ(type_of(import(open), "w"), "float[?]");
}

TEST(Import, ReadsSparseInitializersAsDenseOnes) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->clear_initializer();
  onnx::SparseTensorProto& sparse = *proto.mutable_graph()->add_sparse_initializer();
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(1);
  sparse.mutable_values()->add_float_data(7);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(1);
  sparse.mutable_indices()->add_int64_data(1);
  sparse.add_dims(3);
  const Model model = import(proto);
  const graph::Tensor* w = model.graph.constant(model.graph.find_value("w"));
  ASSERT_NE(w, nullptr);
  const float expected[] = {0, 7, 0};
  EXPECT_EQ(std::memcmp(w->data.bytes.data(), expected, sizeof(expected)), 0);
}

// Three sparse initializers of 12 bytes each, when they are dense.
onnx::ModelProto three_sparse_initializers() {
  onnx::ModelProto proto = small_model();
  for (const char* name : {"a1", "a2", "a3"}) {
    onnx::SparseTensorProto& sparse = *proto.mutable_graph()->add_sparse_initializer();
    sparse.mutable_values()->set_name(name);
    sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
    sparse.mutable_values()->add_dims(0);
    sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(0);
    sparse.add_dims(3);
  }
  return proto;
}

TEST(Import, LimitsWhatAllSparseInitializersBecomeTogether) {
  const std::string bytes = three_sparse_initializers().SerializeAsString();
  const graph::Blob blob = graph::Blob{std::as_bytes(std::span(bytes)), nullptr};
  EXPECT_THAT(import_model(blob, {.max_dense_bytes = 36}), IsOk());
  const auto refused = import_model(blob, {.max_dense_bytes = 35});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
  EXPECT_EQ(refused.status().message(),
            "sparse initializer \"a3\": its dense form needs 12 bytes, but 11 remain of "
            "session.sparse_initializers_max_bytes=35; raise the limit to load the model");
}

TEST(Import, EndsWhenItIsCancelled) {
  const std::string bytes = small_model().SerializeAsString();
  const std::atomic<bool> cancelled = true;
  const auto model = import_model(graph::Blob{std::as_bytes(std::span(bytes)), nullptr},
                                  {.cancellation = Cancellation(&cancelled)});
  EXPECT_EQ(model.status().code(), StatusCode::kCancelled);
}

TEST(Import, ReadsDeclaredTypesAndSymbols) {
  onnx::ModelProto proto = small_model();
  for (auto* info :
       {proto.mutable_graph()->mutable_input(0), proto.mutable_graph()->mutable_output(0)}) {
    info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
        "n");
  }
  const Model model = import(proto);
  EXPECT_THAT(model.symbols, ElementsAre("n"));
  EXPECT_EQ(type_of(model, "x"), "float[n,3]");
  EXPECT_EQ(type_of(model, "a"), "float[n,3]");
}

TEST(Import, TakesDeclarationsOfInnerValuesAndIgnoresStrayOnes) {
  onnx::ModelProto proto = empty_model();
  add_opset(proto, "com.example", 1);
  add_node(*proto.mutable_graph(), "Any", {}, {"a"}).set_domain("com.example");
  add_node(*proto.mutable_graph(), "Relu", {"a"}, {"y"});
  set_type(*proto.mutable_graph()->add_value_info(), "a", 1, {4});
  set_type(*proto.mutable_graph()->add_value_info(), "stray", 1, {4});
  proto.mutable_graph()->add_output()->set_name("y");
  const Model model = import(proto);
  EXPECT_EQ(type_of(model, "a"), "float[4]");
  EXPECT_EQ(type_of(model, "y"), "float[4]");
}

TEST(Import, NotesDeclarationsThatContradictEachOther) {
  onnx::ModelProto proto = small_model();
  set_type(*proto.mutable_graph()->add_value_info(), "y", 1, {9, 9});
  ImportReport report;
  import(proto, &report);
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("graph output \"y\" is declared as")));
}

TEST(Import, OptionalInputsAndOutputsMayBeLeftOut) {
  onnx::ModelProto proto = empty_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "x", {4});
  add_initializer(graph, "high", {}, {1});
  add_node(graph, "Clip", {"x", "", "high"}, {"y"});
  add_output(graph, "y", {4});
  const Model model = import(proto);
  EXPECT_THAT(value_names(model.graph, model.graph.nodes[0].inputs), ElementsAre("x", "", "high"));
}

TEST(Import, CanLeaveShapesAlone) {
  ImportOptions options;
  options.infer_shapes = false;
  const auto model = import_proto(small_model(), options);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(type_of(*model, "a"), "?");
}

TEST(Import, ReadsAChainOf100000Nodes) {
  constexpr int kLength = 100'000;
  onnx::ModelProto proto = empty_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "v0", {2, 3});
  for (int i = kLength; i > 0; --i) {  // in reverse: the importer must sort, too
    add_node(graph, "Relu", {"v" + std::to_string(i - 1)}, {"v" + std::to_string(i)});
  }
  add_output(graph, "v" + std::to_string(kLength), {2, 3});
  const Model model = import(proto);
  EXPECT_EQ(model.graph.nodes.size(), size_t{kLength});
  EXPECT_EQ(model.graph.nodes[0].name, "node_v1");
  EXPECT_EQ(type_of(model, "v99999"), "float[2,3]");
}

TEST(Import, MayBeCalledFromSeveralThreads) {
  const std::string bytes = small_model().SerializeAsString();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_THAT(import_model(as_blob(bytes)), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ephost::onnx_io::import_test
