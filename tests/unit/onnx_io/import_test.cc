#include "host/onnx_io/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "host/base/file.h"
#include "host/graph/checks.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::Graph;
using graph::Model;
using graph::Shape;
using graph::testing::node_names;
using graph::testing::value_names;

Model import(const onnx::ModelProto& proto, ImportReport* report = nullptr) {
  Result<Model> model = import_proto(proto, {}, report);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  EXPECT_EQ(check_graph(model->graph).message(), "");
  return std::move(model).value();
}

void expect_refusal(const onnx::ModelProto& proto, const std::string& message,
                    StatusCode code = StatusCode::kInvalidGraph) {
  const Result<Model> model = import_proto(proto);
  ASSERT_FALSE(model.ok()) << message;
  EXPECT_EQ(model.status().code(), code);
  EXPECT_THAT(model.status().message(), HasSubstr(message));
}

std::string type_of(const Model& model, std::string_view value) {
  return graph::to_string(model.graph.values[model.graph.find_value(value)].type, model.symbols);
}

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

TEST(Import, ReadsTheHeader) {
  onnx::ModelProto proto = small_model();
  proto.set_producer_name("maker");
  proto.set_producer_version("1.2");
  proto.set_domain("org.example");
  proto.set_model_version(5);
  proto.set_doc_string("text");
  proto.mutable_graph()->set_doc_string("graph text");
  add_opset(proto, "com.microsoft", 1);
  auto& entry = *proto.add_metadata_props();
  entry.set_key("k");
  entry.set_value("v");
  const Model model = import(proto);
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.producer_name, "maker");
  EXPECT_EQ(model.producer_version, "1.2");
  EXPECT_EQ(model.domain, "org.example");
  EXPECT_EQ(model.model_version, 5);
  EXPECT_EQ(model.doc, "text");
  EXPECT_EQ(model.graph.doc, "graph text");
  EXPECT_THAT(model.opset_imports, ElementsAre(Pair("", 17), Pair("com.microsoft", 1)));
  EXPECT_THAT(model.metadata, ElementsAre(Pair("k", "v")));
}

TEST(Import, ReadsEveryKindOfAttribute) {
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

TEST(Import, RefusesAttributesThatContradictThemselves) {
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
  refusal([](Type&) {}, "it has neither type nor value");
  refusal([](Type& a) { a.set_type(Type::INT), a.set_f(1); }, "its value is of another type");
  refusal([](Type& a) { a.set_type(Type::INT), a.set_i(1), a.set_f(1); },
          "it holds values of several types");
  refusal([](Type& a) { a.set_type(Type::INT), a.set_i(1), a.set_ref_attr_name("b"); },
          "it refers to an attribute of a function");
  refusal([](Type& a) { a.set_type(Type::TENSOR), a.mutable_t()->set_data_type(99); },
          "tensor: its element type is 99");
}

TEST(Import, InfersTheTypeOfAnAttributeThatStatesNone) {
  onnx::ModelProto proto = empty_model(1, 1);
  add_input(*proto.mutable_graph(), "x", {1});
  add_node(*proto.mutable_graph(), "Cast", {"x"}, {"y"}).add_attribute()->set_name("to");
  proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_s("FLOAT");
  add_output(*proto.mutable_graph(), "y", {1});
  EXPECT_EQ(import(proto).graph.nodes[0].string("to"), "FLOAT");
}

TEST(Import, RefusesAttributesThatStandTwice) {
  onnx::ModelProto proto = small_model();
  set_int(*proto.mutable_graph()->mutable_node(1), "a", 1);
  set_int(*proto.mutable_graph()->mutable_node(1), "a", 2);
  expect_refusal(proto, "attribute \"a\" of Relu node \"node_y\" stands twice");
  proto.mutable_graph()->mutable_node(1)->mutable_attribute(0)->clear_name();
  expect_refusal(proto, "of Relu node \"node_y\" has no name");
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

TEST(Import, RefusesNamesThatMakeNoSense) {
  onnx::ModelProto twice = small_model();
  twice.mutable_graph()->mutable_node(1)->set_output(0, "a");
  expect_refusal(twice, "node output \"a\" is assigned a second time");

  onnx::ModelProto missing = small_model();
  missing.mutable_graph()->mutable_node(1)->set_input(0, "nothing");
  expect_refusal(missing, "Relu node \"node_y\" reads value \"nothing\", which nothing produces");

  onnx::ModelProto lost_output = small_model();
  lost_output.mutable_graph()->mutable_output(0)->set_name("nothing");
  expect_refusal(lost_output, "graph output \"nothing\" is produced by no node");

  onnx::ModelProto nameless = small_model();
  nameless.mutable_graph()->mutable_input(0)->set_name("");
  expect_refusal(nameless, "graph input has no name");

  onnx::ModelProto inputs = small_model();
  add_input(*inputs.mutable_graph(), "x", {1});
  expect_refusal(inputs, "graph input \"x\" is assigned a second time");

  onnx::ModelProto initializers = small_model();
  add_initializer(*initializers.mutable_graph(), "w", {1}, {1});
  expect_refusal(initializers, "initializer \"w\" stands twice");

  onnx::ModelProto produced = small_model();
  add_initializer(*produced.mutable_graph(), "a", {1}, {1});
  expect_refusal(produced, "node output \"a\" is assigned a second time");

  onnx::ModelProto no_operator = small_model();
  no_operator.mutable_graph()->mutable_node(0)->clear_op_type();
  expect_refusal(no_operator, "has no operator");
}

TEST(Import, ADefaultOfAnInputIsNoConstant) {
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

TEST(Import, BothNamesOfTheStandardDomainAreOne) {
  onnx::ModelProto proto = small_model();
  proto.mutable_opset_import(0)->set_domain("ai.onnx");
  proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  const Model model = import(proto);
  EXPECT_EQ(model.graph.nodes[0].domain, "");
  EXPECT_EQ(model.graph.nodes[0].since_version, 14);
  EXPECT_THAT(model.opset_imports, ElementsAre(Pair("", 17)));
}

TEST(Import, RefusesNodesThatBreakTheirDefinition) {
  onnx::ModelProto unknown = small_model();
  unknown.mutable_graph()->mutable_node(1)->set_op_type("Rely");
  expect_refusal(unknown, "Rely node \"node_y\": opset 17 of domain \"ai.onnx\" has no operator");

  onnx::ModelProto inputs = small_model();
  inputs.mutable_graph()->mutable_node(1)->add_input("x");
  expect_refusal(inputs, "Relu node \"node_y\": ");

  onnx::ModelProto attribute = small_model();
  set_int(*attribute.mutable_graph()->mutable_node(1), "strange", 1);
  expect_refusal(attribute, "Unrecognized attribute: strange");

  onnx::ModelProto deprecated = empty_model(10);
  add_input(*deprecated.mutable_graph(), "x", {1, 1, 2, 2});
  add_initializer(*deprecated.mutable_graph(), "s", {4}, {1, 1, 2, 2});
  add_node(*deprecated.mutable_graph(), "Upsample", {"x", "s"}, {"y"});
  add_output(*deprecated.mutable_graph(), "y", {1, 1, 4, 4});
  expect_refusal(deprecated, "Upsample node \"node_y\": ");

  onnx::ModelProto domain = small_model();
  domain.mutable_graph()->mutable_node(1)->set_domain("com.example");
  expect_refusal(domain, "is of domain \"com.example\", for which the model imports no opset");
}

TEST(Import, AcceptsOperatorsOfForeignDomains) {
  onnx::ModelProto proto = small_model();
  add_opset(proto, "com.microsoft", 3);
  onnx::NodeProto& node = *proto.mutable_graph()->mutable_node(1);
  node.set_domain("com.microsoft");
  node.set_op_type("Anything");
  set_int(node, "strange", 1);
  ImportReport report;
  const Model model = import(proto, &report);
  EXPECT_EQ(model.graph.nodes[1].since_version, 3);
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(Import, AcceptsNewerOpsetsWithANote) {
  onnx::ModelProto proto = small_model();
  proto.mutable_opset_import(0)->set_version(21);
  proto.set_ir_version(10);
  add_node(*proto.mutable_graph(), "NotYetInvented", {"y"}, {"z"});
  proto.mutable_graph()->add_output()->set_name("z");
  ImportReport report;
  const Model model = import(proto, &report);
  EXPECT_EQ(model.graph.nodes[0].since_version, 21);
  EXPECT_EQ(type_of(model, "a"), "float[2,3]") << "Add has not changed";
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("opset 21 of domain \"ai.onnx\" is newer")));
}

TEST(Import, AcceptsOperatorsThatWereExperimentalOnceWithANote) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->mutable_node(1)->set_op_type("ScaledTanh");
  ImportReport report;
  import(proto, &report);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("it was experimental once")));
}

TEST(Import, RefusesBadHeaders) {
  onnx::ModelProto no_ir = small_model();
  no_ir.clear_ir_version();
  expect_refusal(no_ir, "the model has no valid IR version");

  onnx::ModelProto no_opset = small_model();
  no_opset.clear_opset_import();
  expect_refusal(no_opset, "the model imports no opset");

  onnx::ModelProto zero = small_model();
  zero.mutable_opset_import(0)->set_version(0);
  expect_refusal(zero, "opset version 0 of domain \"\" does not exist");

  onnx::ModelProto twice = small_model();
  add_opset(twice, "ai.onnx", 16);
  expect_refusal(twice, "domain \"\" is imported twice");

  onnx::ModelProto metadata = small_model();
  metadata.add_metadata_props()->set_key("k");
  metadata.add_metadata_props()->set_key("k");
  expect_refusal(metadata, "metadata key \"k\" stands twice");

  onnx::ModelProto functions = small_model();
  functions.add_functions()->set_name("f");
  functions.add_functions()->set_name("f");
  expect_refusal(functions, "function \"f\" of domain \"\" is defined twice");
}

TEST(Import, OldModelsImportOpset1) {
  onnx::ModelProto proto = empty_model(1, 2);
  proto.clear_opset_import();
  add_input(*proto.mutable_graph(), "x", {1});
  add_node(*proto.mutable_graph(), "Relu", {"x"}, {"y"});
  add_output(*proto.mutable_graph(), "y", {1});
  const Model model = import(proto);
  EXPECT_THAT(model.opset_imports, ElementsAre(Pair("", 1)));
  EXPECT_EQ(model.graph.nodes[0].since_version, 1);
}

TEST(Import, RefusesWhatIsNoModel) {
  const auto status = [](std::string bytes) {
    return import_model(as_blob(std::move(bytes))).status();
  };
  EXPECT_EQ(status("").code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(status("").message(), HasSubstr("it has no graph"));
  EXPECT_EQ(status("this is text").code(), StatusCode::kInvalidProtobuf);
  EXPECT_EQ(status(std::string(100, '\xff')).code(), StatusCode::kInvalidProtobuf);
  // Well-formed fields with content that is none: graph.node as a message with a cut name.
  EXPECT_EQ(status(std::string("\x3a\x04\x5a\x02\x0a\x07", 6)).code(),
            StatusCode::kInvalidProtobuf);
}

TEST(Import, KeepsModelLocalFunctions) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->mutable_node(1)->set_op_type("Mine");
  onnx::FunctionProto& function = *proto.add_functions();
  function.set_name("Mine");
  function.add_input("i");
  function.add_output("o");
  const Model model = import(proto);
  ASSERT_EQ(model.functions.size(), 1u);
  EXPECT_EQ(model.functions[0].name, "Mine");
  onnx::FunctionProto read;
  EXPECT_TRUE(read.ParseFromString(model.functions[0].serialized));
  EXPECT_EQ(read.input(0), "i");
}

TEST(Import, NotesWhatItDrops) {
  onnx::ModelProto proto = small_model();
  proto.add_training_info();
  proto.mutable_graph()->add_quantization_annotation()->set_tensor_name("x");
  ImportReport report;
  import(proto, &report);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("training information is dropped"),
                                        HasSubstr("quantization annotations are dropped")));
}

TEST(Import, BorrowsLargeInitializersFromTheMappedFile) {
  test::TempDirectory folder;
  onnx::ModelProto proto = small_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.clear_initializer();
  onnx::TensorProto& w = *graph.add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(1024);
  w.add_dims(3);
  w.set_raw_data(std::string(1024 * 3 * 4, '\0'));
  // Aligned in the file, as our own exporter places it.
  while (proto.SerializeAsString().find(std::string(1024 * 3 * 4, '\0')) % 4 != 0) {
    proto.set_producer_name(proto.producer_name() + "x");
  }
  graph.mutable_output(0)->mutable_type()->clear_tensor_type();
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  const auto path = folder.write("model.onnx", proto.SerializeAsString());
  std::optional<Model> copy;
  {
    Result<Model> model = import_model(path);
    ASSERT_TRUE(model.ok()) << model.status().message();
    copy = std::move(model).value();
  }
  const graph::Tensor& tensor = copy->graph.initializers[0];
  ASSERT_EQ(tensor.data.bytes.size(), 12288u);
  ASSERT_TRUE(tensor.data.owner);
  const auto* file = static_cast<const MappedFile*>(tensor.data.owner.get());
  EXPECT_EQ(file->path(), path);
  EXPECT_GE(tensor.data.bytes.data(), file->bytes().data());
  EXPECT_LE(tensor.data.bytes.data() + 12288, file->bytes().data() + file->bytes().size());
}

TEST(Import, NamesTheFileInMessages) {
  test::TempDirectory folder;
  const auto path = folder.write("broken.onnx", "no model");
  const auto model = import_model(path);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(model.status().message(), HasSubstr("while importing"));
  EXPECT_THAT(model.status().message(), HasSubstr("broken.onnx"));
  EXPECT_EQ(import_model(folder / "none.onnx").status().code(), StatusCode::kNoSuchFile);
}

onnx::ModelProto model_with_external_data() {
  onnx::ModelProto proto = small_model();
  onnx::TensorProto& w = *proto.mutable_graph()->mutable_initializer(0);
  w.clear_raw_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& location = *w.add_external_data();
  location.set_key("location");
  location.set_value("w.bin");
  return proto;
}

TEST(Import, FindsExternalDataBesideTheModel) {
  test::TempDirectory folder;
  const auto path = folder.write("model.onnx", model_with_external_data().SerializeAsString());
  EXPECT_EQ(import_model(path).status().code(), StatusCode::kNoSuchFile);
  folder.write("w.bin", std::string(12, 'w'));
  const auto model = import_model(path);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.initializers[0].data.bytes[0], std::byte{'w'});
}

TEST(Import, FindsExternalDataWhereOptionsSay) {
  test::TempDirectory folder;
  folder.write("w.bin", std::string(12, 'w'));
  const onnx::ModelProto proto = model_with_external_data();
  EXPECT_EQ(import_proto(proto).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(import_proto(proto, {.external_data_dir = folder.path()}).ok());
  const std::string content(12, 'b');
  ImportOptions options;
  options.external_files["w.bin"] = as_blob(content);
  const auto model = import_proto(proto, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.initializers[0].data.bytes[0], std::byte{'b'});
}

TEST(Import, ExternalDataInAttributes) {
  test::TempDirectory folder;
  folder.write("w.bin", std::string(12, 'w'));
  onnx::ModelProto proto = empty_model();
  onnx::NodeProto& node = add_node(*proto.mutable_graph(), "Constant", {}, {"y"});
  *add_attribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t() =
      model_with_external_data().graph().initializer(0);
  add_output(*proto.mutable_graph(), "y", {3});
  const auto model = import_proto(proto, {.external_data_dir = folder.path()});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(std::get<graph::Tensor>(*model->graph.nodes[0].attribute("value")).data.bytes[0],
            std::byte{'w'});
}

TEST(Import, CanLeaveShapesAlone) {
  ImportOptions options;
  options.infer_shapes = false;
  const auto model = import_proto(small_model(), options);
  ASSERT_TRUE(model.ok());
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

TEST(Import, ReadsANodeWithManyInputsAndAttributes) {
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
}  // namespace ephost::onnx_io
