#include "tests/unit/onnx_io/export/rich_model.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io::testing {
namespace {

using test::IsOk;

using Type = onnx::AttributeProto;

void set_header(onnx::ModelProto& proto) {
  proto.set_producer_name("maker");
  proto.set_producer_version("1");
  proto.set_domain("d");
  proto.set_model_version(3);
  proto.set_doc_string("doc");
  add_opset(proto, "com.example", 2);
  onnx::StringStringEntryProto& entry = *proto.add_metadata_props();
  entry.set_key("k");
  entry.set_value("v");
}

void add_function(onnx::ModelProto& proto) {
  add_opset(proto, "com.functions", 1);
  onnx::FunctionProto& function = *proto.add_functions();
  function.set_name("f");
  function.set_domain("com.example");
  function.set_doc_string("function doc");
  function.add_input("in");
  function.add_output("out");
  function.add_attribute("alpha");
  function.add_opset_import()->set_version(17);
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type("LeakyRelu");
  node.add_input("in");
  node.add_output("out");
  add_attribute(node, "alpha", Type::FLOAT).set_ref_attr_name("alpha");
}

onnx::TensorProto large_tensor() {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(512);
  tensor.set_raw_data(std::string(2048, 't'));
  return tensor;
}

onnx::TensorProto text_tensor() {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::STRING);
  tensor.add_dims(1);
  tensor.add_string_data("text");
  return tensor;
}

onnx::SparseTensorProto sparse_tensor() {
  onnx::SparseTensorProto sparse;
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(1);
  sparse.mutable_values()->add_float_data(1);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(1);
  sparse.mutable_indices()->add_int64_data(3);
  sparse.add_dims(4);
  return sparse;
}

onnx::TypeProto optional_type() {
  onnx::TypeProto type;
  type.mutable_optional_type()
      ->mutable_elem_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(onnx::TensorProto::FLOAT);
  return type;
}

onnx::TypeProto sparse_type() {
  onnx::TypeProto type;
  type.mutable_sparse_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_sparse_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
  return type;
}

void add_single_attributes(onnx::NodeProto& node) {
  add_attribute(node, "i", Type::INT).set_i(-3);
  add_attribute(node, "f", Type::FLOAT).set_f(0.5f);
  add_attribute(node, "s", Type::STRING).set_s("text");
  add_attribute(node, "empty", Type::STRING).set_s("");
  add_attribute(node, "large_text", Type::STRING).set_s(std::string(3000, 'x'));
  *add_attribute(node, "t", Type::TENSOR).mutable_t() = large_tensor();
  *add_attribute(node, "text_tensor", Type::TENSOR).mutable_t() = text_tensor();
  *add_attribute(node, "st", Type::SPARSE_TENSOR).mutable_sparse_tensor() = sparse_tensor();
  *add_attribute(node, "tp", Type::TYPE_PROTO).mutable_tp() = optional_type();
}

void add_list_attributes(onnx::NodeProto& node) {
  set_ints(node, "is", {1, -2, INT64_MAX});
  set_ints(node, "no_ints", {});
  add_attribute(node, "fs", Type::FLOATS).add_floats(-1);
  add_attribute(node, "ss", Type::STRINGS).add_strings("a");
  *add_attribute(node, "ts", Type::TENSORS).add_tensors() = large_tensor();
  *add_attribute(node, "sts", Type::SPARSE_TENSORS).add_sparse_tensors() = sparse_tensor();
  onnx::AttributeProto& types = add_attribute(node, "tps", Type::TYPE_PROTOS);
  *types.add_type_protos() = optional_type();
  *types.add_type_protos() = sparse_type();
  onnx::GraphProto& body = *add_attribute(node, "gs", Type::GRAPHS).add_graphs();
  body.set_name("listed");
  onnx::NodeProto& inner = add_node(body, "Any", {"large"}, {"b"});
  inner.set_domain("com.example");
  add_node(add_body(inner, "deep"), "Neg", {"large"}, {"n"});
  body.add_output()->set_name("b");
}

// Outputs with the types that are not tensors.
void add_composite_outputs(onnx::GraphProto& graph) {
  onnx::ValueInfoProto& sequence = *graph.add_output();
  sequence.set_name("any");
  sequence.mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(onnx::TensorProto::FLOAT);
  onnx::ValueInfoProto& map = *graph.add_output();
  map.set_name("second");
  onnx::TypeProto::Map& type = *map.mutable_type()->mutable_map_type();
  type.set_key_type(onnx::TensorProto::INT64);
  type.mutable_value_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
}

void set_symbolic_batch(onnx::ValueInfoProto& value) {
  value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("n");
}

}  // namespace

graph::Model rich_model() {
  onnx::ModelProto proto = small_model();
  set_header(proto);
  add_function(proto);
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.set_doc_string("graph doc");
  add_input(graph, "defaulted", {3});
  add_initializer(graph, "defaulted", {3}, {4, 5, 6});
  add_initializer(graph, "large", {512}, std::vector<float>(512, 7));
  onnx::NodeProto& node = add_node(graph, "Any", {"large", "", "y"}, {"any", "", "second"});
  node.set_domain("com.example");
  add_single_attributes(node);
  add_list_attributes(node);
  add_composite_outputs(graph);
  onnx::TensorAnnotation& annotation = *graph.add_quantization_annotation();
  annotation.set_tensor_name("y");
  onnx::StringStringEntryProto& scale = *annotation.add_quant_parameter_tensor_names();
  scale.set_key("SCALE_TENSOR");
  scale.set_value("large");
  set_symbolic_batch(*graph.mutable_input(0));
  set_symbolic_batch(*graph.mutable_output(0));
  Result<graph::Model> model = import_proto(proto);
  EXPECT_THAT(model, IsOk());
  return model.ok() ? std::move(model).value() : graph::Model{};
}

}  // namespace ephost::onnx_io::testing
