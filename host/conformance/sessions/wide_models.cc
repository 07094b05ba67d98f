#include "host/conformance/sessions/wide_models.h"

#include <string>
#include <utility>
#include <vector>

#include "host/conformance/random/numbers/dice.h"

namespace ephost::conformance {
namespace {

using Dims = std::vector<int64_t>;

class Builder {
 public:
  explicit Builder(const WideShape& shape) : shape_(shape) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    model_.mutable_graph()->set_name("wide");
  }

  std::string input(const std::string& name, const Dims& dims) {
    describe(*model_.mutable_graph()->add_input(), name, dims);
    return name;
  }
  std::string constant(const Dims& dims, double low, double high) {
    onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
    tensor.set_name("constant" + std::to_string(next_++));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (const int64_t dim : dims) {
      tensor.add_dims(dim);
      count *= dim;
    }
    while (count-- > 0) tensor.add_float_data(static_cast<float>(dice_.real(low, high)));
    return tensor.name();
  }
  std::string node(const char* op_type, const std::vector<std::string>& inputs) {
    onnx::NodeProto& made = *model_.mutable_graph()->add_node();
    made.set_op_type(op_type);
    made.set_name("node" + std::to_string(model_.graph().node_size()));
    for (const std::string& name : inputs) made.add_input(name);
    made.add_output("value" + std::to_string(model_.graph().node_size()));
    return made.output(0);
  }
  onnx::ModelProto finish(const std::string& output, const Dims& dims) {
    describe(*model_.mutable_graph()->add_output(), output, dims);
    return std::move(model_);
  }

 private:
  // The first extent is that of the rows.
  void describe(onnx::ValueInfoProto& info, const std::string& name, const Dims& dims) const {
    info.set_name(name);
    onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (size_t i = 0; i < dims.size(); ++i) {
      auto& dim = *type.mutable_shape()->add_dim();
      if (i == 0 && shape_.is_open) {
        dim.set_dim_param("rows");
      } else {
        dim.set_dim_value(dims[i]);
      }
    }
  }

  const WideShape shape_;
  Dice dice_{"wide"};
  onnx::ModelProto model_;
  int next_ = 0;
};

std::string chain(Builder& builder, WideKind kind, const WideShape& shape, std::string value) {
  const int64_t columns = shape.columns;
  switch (kind) {
    case WideKind::kUnary:
      // Positive at the end, so that Relu leaves something of it when the chain is repeated.
      for (const char* op_type : {"Relu", "Neg", "Abs", "Neg", "Sigmoid", "Tanh"}) {
        value = builder.node(op_type, {value});
      }
      return value;
    case WideKind::kAffine:
      for (const Dims& dims : {Dims{columns}, Dims{1}}) {
        value = builder.node("Mul", {value, builder.constant(dims, 0.5, 1)});
        value = builder.node("Add", {value, builder.constant(dims, -1, 1)});
      }
      return value;
    case WideKind::kBinary:
      value = builder.node("Add", {value, "y"});
      value = builder.node("Mul", {value, "y"});
      return builder.node("Sub", {value, "y"});
    case WideKind::kProduct:
      value = builder.node("MatMul", {value, builder.constant({columns, columns}, -0.1, 0.1)});
      return builder.node("Relu", {value});
    case WideKind::kConvolution:
      value = builder.node("Conv", {value, builder.constant({4, 4, 1, 1}, -0.5, 0.5)});
      return builder.node("Relu", {value});
  }
  return value;
}

}  // namespace

onnx::ModelProto wide_model(WideKind kind, const WideShape& shape) {
  const Dims dims = kind == WideKind::kConvolution ? Dims{shape.rows, 4, 16, shape.columns / 16}
                                                   : Dims{shape.rows, shape.columns};
  Builder builder(shape);
  std::string value = builder.input("x", dims);
  if (kind == WideKind::kBinary) builder.input("y", dims);
  for (int i = 0; i < shape.repeats; ++i) value = chain(builder, kind, shape, std::move(value));
  return builder.finish(value, dims);
}

}  // namespace ephost::conformance
