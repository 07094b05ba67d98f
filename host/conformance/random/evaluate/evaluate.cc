#include "host/conformance/random/evaluate/evaluate.h"

#include <algorithm>
#include <cstring>

namespace ephost::conformance {

const BoundedTensor& Invocation::input(std::size_t i) const {
  require(has_input(i), "an input is missing");
  return *inputs_[i];
}

const onnx::AttributeProto* Invocation::find(const char* name) const {
  for (const onnx::AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t Invocation::integer(const char* name, int64_t fallback) const {
  const onnx::AttributeProto* attribute = find(name);
  return attribute == nullptr ? fallback : attribute->i();
}

double Invocation::real(const char* name, double fallback) const {
  const onnx::AttributeProto* attribute = find(name);
  return static_cast<float>(attribute == nullptr ? fallback : attribute->f());
}

std::string Invocation::text(const char* name, const char* fallback) const {
  const onnx::AttributeProto* attribute = find(name);
  return attribute == nullptr ? fallback : attribute->s();
}

Dims Invocation::integers(const char* name, Dims fallback) const {
  const onnx::AttributeProto* attribute = find(name);
  if (attribute == nullptr) return fallback;
  return {attribute->ints().begin(), attribute->ints().end()};
}

Dims Invocation::integers(const char* name, std::size_t i) const {
  return has_input(i) ? input(i).integers : integers(name, Dims{});
}

Outputs evaluate(const Invocation& invocation) {
  for (std::size_t i = 0; i < invocation.input_count(); ++i) {
    if (!invocation.has_input(i)) continue;
    const BoundedTensor& x = invocation.input(i);
    const bool is_float = x.integers.empty() && std::ssize(x.numbers) == element_count(x.dims);
    const bool may_be_integer = i > 0 || invocation.node().op_type() == "DequantizeLinear";
    require(is_float || may_be_integer, "integers in place of floats");
  }
  for (const Evaluations* evaluations :
       {&elementwise_evaluations(), &layout_evaluations(), &normalization_evaluations(),
        &product_evaluations(), &window_evaluations()}) {
    const auto found = evaluations->find(invocation.node().op_type());
    if (found != evaluations->end()) return found->second(invocation);
  }
  throw NotEvaluable("operator " + invocation.node().op_type());
}

BoundedValues evaluate_model(const onnx::ModelProto& model, BoundedValues inputs) {
  const onnx::GraphProto& graph = model.graph();
  BoundedValues values = std::move(inputs);
  for (const onnx::TensorProto& constant : graph.initializer()) {
    values.emplace(constant.name(), to_bounded(constant));
  }
  for (const onnx::NodeProto& node : graph.node()) {
    std::vector<const BoundedTensor*> read;
    for (const std::string& name : node.input()) {
      const auto found = values.find(name);
      require(name.empty() || found != values.end(), "a value without a producer");
      read.push_back(name.empty() ? nullptr : &found->second);
    }
    Outputs outputs = evaluate(Invocation(node, opset_of(model), std::move(read)));
    for (std::size_t i = 0; i < outputs.size() && std::cmp_less(i, node.output_size()); ++i) {
      values[node.output(static_cast<int>(i))] = std::move(outputs[i]);
    }
  }
  return values;
}

int opset_of(const onnx::ModelProto& model) {
  return static_cast<int>(model.opset_import(0).version());
}

BoundedTensor to_bounded(const onnx::TensorProto& tensor) {
  BoundedTensor made;
  made.dims.assign(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = element_count(made.dims);
  const auto read = [&](const auto& field, auto& to) {
    const auto size = static_cast<int64_t>(sizeof(to[0]));
    const auto bytes = std::ssize(tensor.raw_data());
    require(
        tensor.has_raw_data() ? bytes % size == 0 && bytes / size == count : field.size() == count,
        "a constant of another size");
    to.assign(field.begin(), field.end());
    to.resize(static_cast<std::size_t>(count));
    if (!tensor.raw_data().empty()) {
      std::memcpy(to.data(), tensor.raw_data().data(), tensor.raw_data().size());
    }
  };
  if (tensor.data_type() == onnx::TensorProto::INT64) {
    read(tensor.int64_data(), made.integers);
    return made;
  }
  if (tensor.data_type() == onnx::TensorProto::INT8) {
    std::vector<int8_t> bytes;
    read(tensor.int32_data(), bytes);
    made.integers.assign(bytes.begin(), bytes.end());
    return made;
  }
  require(tensor.data_type() == onnx::TensorProto::FLOAT, "a constant of another type");
  std::vector<float> floats;
  read(tensor.float_data(), floats);
  for (const float number : floats) made.numbers.push_back({number, 0});
  return made;
}

int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t extent : dims) {
    require(extent >= 0 && !__builtin_mul_overflow(count, extent, &count), "impossible dimensions");
  }
  return count;
}

void require(bool condition, const char* what) {
  if (!condition) throw NotEvaluable(what);
}

std::size_t normalized_axis(int64_t axis, std::size_t rank) {
  const auto extent = static_cast<int64_t>(rank);
  require(axis >= -extent && axis < extent, "an axis out of range");
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

BoundedTensor zeros(Dims dims) {
  BoundedTensor made;
  made.numbers.resize(static_cast<std::size_t>(element_count(dims)));
  made.dims = std::move(dims);
  return made;
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    require(of_a == of_b || of_a == 1 || of_b == 1, "dimensions that do not broadcast");
    result[result.size() - 1 - i] = of_a == 1 ? of_b : of_a;
  }
  return result;
}

std::vector<std::size_t> broadcast_positions(const Dims& from, const Dims& to) {
  require(from.size() <= to.size(), "too many dimensions to broadcast");
  const std::size_t lead = to.size() - from.size();
  const Dims strides = strides_of(from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    require(from[i] == 1 || from[i] == to[lead + i], "dimensions that do not broadcast");
  }
  std::vector<std::size_t> positions;
  if (element_count(to) == 0) return positions;
  Dims index(to.size(), 0);
  do {
    int64_t position = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] != 1) position += index[lead + i] * strides[i];
    }
    positions.push_back(static_cast<std::size_t>(position));
  } while (next_index(index, to));
  return positions;
}

bool next_index(Dims& index, const Dims& dims) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace ephost::conformance
