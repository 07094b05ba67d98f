#include "host/onnx_io/inference/node_proto.h"

#include <onnx/onnx_pb.h>

#include <string_view>

#include "host/onnx_io/import/value_types.h"

namespace ephost::onnx_io {
namespace {

using graph::AttributeValue;
using graph::ElementType;
using onnx::AttributeProto;

// Inference functions read shapes, axes, repeats and scales: lists whose length is about the rank
// of a tensor.
bool is_worth_showing(const graph::Tensor& tensor) {
  const size_t size = tensor.data.bytes.size();
  switch (tensor.type) {
    case ElementType::kInt64:
    case ElementType::kInt32:
      return size <= 16384;
    case ElementType::kString:
      return false;
    default:
      return size <= 512;
  }
}

void export_sparse(const graph::SparseTensor& sparse, onnx::SparseTensorProto& out) {
  export_small_tensor(sparse.values, *out.mutable_values());
  export_small_tensor(sparse.indices, *out.mutable_indices());
  for (const int64_t dim : sparse.shape) out.add_dims(dim);
}

class AttributeExporter {
 public:
  AttributeExporter(const std::vector<std::string>& symbols, AttributeProto& out)
      : symbols_(symbols), out_(out) {}

  void operator()(int64_t value) {
    out_.set_type(AttributeProto::INT);
    out_.set_i(value);
  }
  void operator()(float value) {
    out_.set_type(AttributeProto::FLOAT);
    out_.set_f(value);
  }
  void operator()(const std::string& value) {
    out_.set_type(AttributeProto::STRING);
    out_.set_s(value);
  }
  void operator()(const graph::Blob& value) {
    out_.set_type(AttributeProto::STRING);
    out_.set_s(value.bytes.data(), value.bytes.size());
  }
  void operator()(const graph::Tensor& value) {
    out_.set_type(AttributeProto::TENSOR);
    export_small_tensor(value, *out_.mutable_t());
  }
  void operator()(const graph::SparseTensor& value) {
    out_.set_type(AttributeProto::SPARSE_TENSOR);
    export_sparse(value, *out_.mutable_sparse_tensor());
  }
  void operator()(const graph::ValueType& value) {
    out_.set_type(AttributeProto::TYPE_PROTO);
    export_type(value, symbols_, *out_.mutable_tp());
  }
  void operator()(const std::unique_ptr<graph::Graph>&) {
    out_.set_type(AttributeProto::GRAPH);
    out_.mutable_g();
  }
  void operator()(const std::vector<int64_t>& values) {
    out_.set_type(AttributeProto::INTS);
    out_.mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) {
    out_.set_type(AttributeProto::FLOATS);
    out_.mutable_floats()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) {
    out_.set_type(AttributeProto::STRINGS);
    for (const std::string& value : values) out_.add_strings(value);
  }
  void operator()(const std::vector<graph::Tensor>& values) {
    out_.set_type(AttributeProto::TENSORS);
    for (const graph::Tensor& value : values) export_small_tensor(value, *out_.add_tensors());
  }
  void operator()(const std::vector<graph::SparseTensor>& values) {
    out_.set_type(AttributeProto::SPARSE_TENSORS);
    for (const graph::SparseTensor& value : values)
      export_sparse(value, *out_.add_sparse_tensors());
  }
  void operator()(const std::vector<graph::ValueType>& values) {
    out_.set_type(AttributeProto::TYPE_PROTOS);
    for (const graph::ValueType& value : values) {
      export_type(value, symbols_, *out_.add_type_protos());
    }
  }
  void operator()(const std::vector<std::unique_ptr<graph::Graph>>& values) {
    out_.set_type(AttributeProto::GRAPHS);
    for (size_t i = 0; i < values.size(); ++i) out_.add_graphs();
  }

 private:
  const std::vector<std::string>& symbols_;
  AttributeProto& out_;
};

}  // namespace

bool export_small_tensor(const graph::Tensor& tensor, onnx::TensorProto& out) {
  out.set_data_type(static_cast<int32_t>(tensor.type));
  for (const int64_t dim : tensor.shape) out.add_dims(dim);
  if (!is_worth_showing(tensor)) return false;
  out.set_raw_data(tensor.data.bytes.data(), tensor.data.bytes.size());
  return true;
}

void export_node(const graph::Node& node, const std::vector<std::string>& symbols,
                 onnx::NodeProto& out) {
  out.set_name(node.name);
  out.set_op_type(node.op_type);
  out.set_domain(node.domain);
  for (const graph::ValueId id : node.inputs) out.add_input(id == graph::kNoValue ? "" : "x");
  for (const graph::ValueId id : node.outputs) out.add_output(id == graph::kNoValue ? "" : "y");
  for (const graph::Attribute& attribute : node.attributes) {
    AttributeProto& added = *out.add_attribute();
    added.set_name(attribute.name);
    std::visit(AttributeExporter(symbols, added), attribute.value);
  }
}

}  // namespace ephost::onnx_io
