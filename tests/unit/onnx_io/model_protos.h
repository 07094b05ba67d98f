// ONNX messages built by hand for tests of import and export: some that an exporter would write,
// and some that none should.
#pragma once

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/onnx_io/import/import.h"

namespace ephost::onnx_io::testing {

inline void set_type(onnx::ValueInfoProto& info, std::string_view name, int32_t element,
                     const std::vector<int64_t>& dims) {
  info.set_name(std::string(name));
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(element);
  tensor.mutable_shape();
  for (const int64_t dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

inline void add_input(onnx::GraphProto& graph, std::string_view name,
                      const std::vector<int64_t>& dims,
                      int32_t element = onnx::TensorProto::FLOAT) {
  set_type(*graph.add_input(), name, element, dims);
}

inline void add_output(onnx::GraphProto& graph, std::string_view name,
                       const std::vector<int64_t>& dims,
                       int32_t element = onnx::TensorProto::FLOAT) {
  set_type(*graph.add_output(), name, element, dims);
}

// A float initializer as raw data.
inline onnx::TensorProto& add_initializer(onnx::GraphProto& graph, std::string_view name,
                                          const std::vector<int64_t>& dims,
                                          const std::vector<float>& elements) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(std::string(name));
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(elements.data(), elements.size() * sizeof(float));
  return tensor;
}

inline onnx::TensorProto& add_int64_initializer(onnx::GraphProto& graph, std::string_view name,
                                                const std::vector<int64_t>& elements) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(std::string(name));
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(elements.size()));
  for (const int64_t element : elements) tensor.add_int64_data(element);
  return tensor;
}

inline onnx::NodeProto& add_node(onnx::GraphProto& graph, std::string_view op_type,
                                 std::initializer_list<std::string_view> inputs,
                                 std::initializer_list<std::string_view> outputs) {
  onnx::NodeProto& node = *graph.add_node();
  if (outputs.size() > 0) node.set_name("node_" + std::string(*outputs.begin()));
  node.set_op_type(std::string(op_type));
  for (const std::string_view input : inputs) node.add_input(std::string(input));
  for (const std::string_view output : outputs) node.add_output(std::string(output));
  return node;
}

inline onnx::AttributeProto& add_attribute(onnx::NodeProto& node, std::string_view name,
                                           onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return attribute;
}

inline void set_ints(onnx::NodeProto& node, std::string_view name,
                     const std::vector<int64_t>& values) {
  onnx::AttributeProto& attribute = add_attribute(node, name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

inline void set_int(onnx::NodeProto& node, std::string_view name, int64_t value) {
  add_attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

// The empty graph attribute of a node.
inline onnx::GraphProto& add_body(onnx::NodeProto& node, std::string_view name) {
  onnx::GraphProto& body = *add_attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name(std::string(name));
  return body;
}

inline void add_opset(onnx::ModelProto& model, std::string_view domain, int64_t version) {
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain(std::string(domain));
  opset.set_version(version);
}

inline onnx::ModelProto empty_model(int64_t opset = 17, int64_t ir_version = 8) {
  onnx::ModelProto model;
  model.set_ir_version(ir_version);
  add_opset(model, "", opset);
  model.mutable_graph()->set_name("main");
  return model;
}

// x[2,3] -> Add(w) -> a -> Relu -> y.
inline onnx::ModelProto small_model() {
  onnx::ModelProto model = empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {2, 3});
  add_initializer(graph, "w", {3}, {1, 2, 3});
  add_node(graph, "Add", {"x", "w"}, {"a"});
  add_node(graph, "Relu", {"a"}, {"y"});
  add_output(graph, "y", {2, 3});
  return model;
}

inline graph::Blob as_blob(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {.bytes = std::as_bytes(std::span(*owner)), .owner = owner};
}

inline Result<graph::Model> import_proto(const onnx::ModelProto& model,
                                         const ImportOptions& options = {},
                                         ImportReport* report = nullptr) {
  return import_model(as_blob(model.SerializeAsString()), options, report);
}

}  // namespace ephost::onnx_io::testing
