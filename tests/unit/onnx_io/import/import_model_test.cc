#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::import_model_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::Model;

TEST(ImportModel, ReadsTheHeader) {
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

TEST(ImportModel, BothNamesOfTheStandardDomainAreOne) {
  onnx::ModelProto proto = small_model();
  proto.mutable_opset_import(0)->set_domain("ai.onnx");
  proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  const Model model = import(proto);
  EXPECT_EQ(model.graph.nodes[0].domain, "");
  EXPECT_EQ(model.graph.nodes[0].since_version, 14);
  EXPECT_THAT(model.opset_imports, ElementsAre(Pair("", 17)));
}

TEST(ImportModel, RefusesNodesThatBreakTheirDefinition) {
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
  expect_refusal(domain,
                 "is of domain \"com.example\", for which the model does not import an opset");
}

TEST(ImportModel, AcceptsOperatorsOfForeignDomains) {
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

TEST(ImportModel, AcceptsNewerOpsetsWithANote) {
  onnx::ModelProto proto = small_model();
  proto.mutable_opset_import(0)->set_version(99);
  proto.set_ir_version(10);
  add_node(*proto.mutable_graph(), "NotYetInvented", {"y"}, {"z"});
  proto.mutable_graph()->add_output()->set_name("z");
  ImportReport report;
  const Model model = import(proto, &report);
  EXPECT_EQ(model.graph.nodes[0].since_version, 99);
  EXPECT_EQ(type_of(model, "a"), "float[2,3]") << "Add has not changed";
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("opset 99 of domain \"ai.onnx\" is newer")));
}

TEST(ImportModel, AcceptsOperatorsThatWereExperimentalOnceWithANote) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->mutable_node(1)->set_op_type("ScaledTanh");
  ImportReport report;
  import(proto, &report);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("it was experimental once")));
}

TEST(ImportModel, RefusesBadHeaders) {
  onnx::ModelProto no_ir = small_model();
  no_ir.clear_ir_version();
  expect_refusal(no_ir, "the model has no valid IR version");

  onnx::ModelProto no_opset = small_model();
  no_opset.clear_opset_import();
  expect_refusal(no_opset, "the model does not import an opset");

  onnx::ModelProto zero = small_model();
  zero.mutable_opset_import(0)->set_version(0);
  expect_refusal(zero, "opset version 0 of domain \"\" does not exist");

  onnx::ModelProto twice = small_model();
  add_opset(twice, "ai.onnx", 16);
  expect_refusal(twice, "domain \"\" is imported twice");

  onnx::ModelProto metadata = small_model();
  metadata.add_metadata_props()->set_key("k");
  metadata.add_metadata_props()->set_key("k");
  expect_refusal(metadata, "metadata key \"k\" occurs twice");

  onnx::ModelProto functions = small_model();
  functions.add_functions()->set_name("f");
  functions.add_functions()->set_name("f");
  expect_refusal(functions, "function \"f\" of domain \"\" is defined twice");
}

TEST(ImportModel, OldModelsImportOpset1) {
  onnx::ModelProto proto = empty_model(1, 2);
  proto.clear_opset_import();
  add_input(*proto.mutable_graph(), "x", {1});
  add_node(*proto.mutable_graph(), "Relu", {"x"}, {"y"});
  add_output(*proto.mutable_graph(), "y", {1});
  const Model model = import(proto);
  EXPECT_THAT(model.opset_imports, ElementsAre(Pair("", 1)));
  EXPECT_EQ(model.graph.nodes[0].since_version, 1);
}

TEST(ImportModel, RefusesBytesThatAreNotAModel) {
  const auto status = [](std::string bytes) {
    return import_model(as_blob(std::move(bytes))).status();
  };
  EXPECT_EQ(status("").code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(status("").message(), HasSubstr("it has no graph"));
  EXPECT_EQ(status("this is text").code(), StatusCode::kInvalidProtobuf);
  EXPECT_EQ(status(std::string(100, '\xff')).code(), StatusCode::kInvalidProtobuf);
  // Well-formed fields with invalid content: graph.node as a message with a truncated name.
  EXPECT_EQ(status(std::string("\x3a\x04\x5a\x02\x0a\x07", 6)).code(),
            StatusCode::kInvalidProtobuf);
}

TEST(ImportModel, KeepsModelLocalFunctions) {
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

TEST(ImportModel, NotesWhatItDrops) {
  onnx::ModelProto proto = small_model();
  proto.add_training_info();
  ImportReport report;
  import(proto, &report);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("training information is dropped")));
}

void annotate(onnx::GraphProto& graph, const char* tensor, const char* parameter) {
  onnx::TensorAnnotation& annotation = *graph.add_quantization_annotation();
  annotation.set_tensor_name(tensor);
  onnx::StringStringEntryProto& entry = *annotation.add_quant_parameter_tensor_names();
  entry.set_key("SCALE_TENSOR");
  entry.set_value(parameter);
}

TEST(ImportModel, ReadsQuantizationAnnotations) {
  onnx::ModelProto proto = small_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_initializer(graph, "scale", {}, {0.5F});
  annotate(graph, "y", "scale");
  annotate(graph, "x", "scale");
  annotate(graph, "x", "y");
  const graph::Graph read = import(proto).graph;
  ASSERT_EQ(read.annotations.size(), 2u);
  EXPECT_EQ(read.annotations[0].value, read.find_value("x"));
  EXPECT_EQ(read.annotations[1].value, read.find_value("y"));
  for (const graph::QuantizationAnnotation& annotation : read.annotations) {
    EXPECT_THAT(annotation.parameters, ElementsAre(Pair("SCALE_TENSOR", read.find_value("scale"))));
  }
}

TEST(ImportModel, DropsQuantizationAnnotationsOfUnknownNames) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->set_name("main");
  annotate(*proto.mutable_graph(), "nothing", "x");
  annotate(*proto.mutable_graph(), "x", "unknown");
  ImportReport report;
  EXPECT_THAT(import(proto, &report).graph.annotations, IsEmpty());
  EXPECT_THAT(report.notes,
              ElementsAre("the quantization annotation of \"nothing\" is dropped: graph \"main\" "
                          "has no value \"nothing\"",
                          "the quantization annotation of \"x\" is dropped: graph \"main\" has no "
                          "value \"unknown\""));
}

}  // namespace
}  // namespace ephost::onnx_io::import_model_test
