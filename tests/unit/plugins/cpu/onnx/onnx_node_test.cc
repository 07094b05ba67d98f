#include "tests/unit/plugins/cpu/onnx/onnx_node_test.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

namespace ephost::test {
namespace {

template <class Message>
Message read_message(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  Message message;
  if (!message.ParseFromIstream(&stream)) throw std::runtime_error("cannot read " + path.string());
  return message;
}

// The typed fields, if the data is not raw; narrow types are stored as int32.
template <class T, class Field>
void append(const Field& field, std::vector<char>& bytes) {
  for (const auto& element : field) {
    const T value = static_cast<T>(element);
    const char* first = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(T));
  }
}

void append_int32_field(const onnx::TensorProto& from, std::vector<char>& bytes) {
  switch (from.data_type()) {
    case EPH_ELEMENT_BOOL:
    case EPH_ELEMENT_INT8:
    case EPH_ELEMENT_UINT8:
      return append<int8_t>(from.int32_data(), bytes);
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
    case EPH_ELEMENT_FLOAT16:
    case EPH_ELEMENT_BFLOAT16:
      return append<int16_t>(from.int32_data(), bytes);
    case EPH_ELEMENT_INT32:
      return append<int32_t>(from.int32_data(), bytes);
    default:  // of 8 bits, or of fewer and packed into 8
      return append<int8_t>(from.int32_data(), bytes);
  }
}

Tensor to_tensor(const onnx::TensorProto& from) {
  Tensor tensor = {from.data_type(), {from.dims().begin(), from.dims().end()}, {}, {}};
  tensor.strings.assign(from.string_data().begin(), from.string_data().end());
  if (from.has_raw_data()) {
    tensor.bytes.assign(from.raw_data().begin(), from.raw_data().end());
    return tensor;
  }
  append<float>(from.float_data(), tensor.bytes);
  append_int32_field(from, tensor.bytes);
  append<int64_t>(from.int64_data(), tensor.bytes);
  append<double>(from.double_data(), tensor.bytes);
  if (from.data_type() == EPH_ELEMENT_UINT32) {
    append<uint32_t>(from.uint64_data(), tensor.bytes);
  } else {
    append<uint64_t>(from.uint64_data(), tensor.bytes);
  }
  return tensor;
}

// Nothing for a kind that no kernel here supports.
std::optional<NodeAttribute> to_attribute(const onnx::AttributeProto& from) {
  switch (from.type()) {
    case onnx::AttributeProto::INT:
      return from.i();
    case onnx::AttributeProto::FLOAT:
      return from.f();
    case onnx::AttributeProto::STRING:
      return from.s();
    case onnx::AttributeProto::INTS:
      return std::vector<int64_t>(from.ints().begin(), from.ints().end());
    case onnx::AttributeProto::FLOATS:
      return std::vector<float>(from.floats().begin(), from.floats().end());
    case onnx::AttributeProto::STRINGS:
      return std::vector<std::string>(from.strings().begin(), from.strings().end());
    case onnx::AttributeProto::TENSOR:
      return to_tensor(from.t());
    default:
      return std::nullopt;
  }
}

bool holds_tensors(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](const auto& value) { return value.type().has_tensor_type(); });
}

// The tensors of a data set by the names of the graph's values.
std::map<std::string, Tensor> read_data(
    const std::filesystem::path& folder, const std::string& prefix,
    const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values) {
  std::map<std::string, Tensor> tensors;
  for (int i = 0; i < values.size(); ++i) {
    const auto file = folder / (prefix + std::to_string(i) + ".pb");
    Tensor& tensor = tensors[values[i].name()] = to_tensor(read_message<onnx::TensorProto>(file));
    // Some data sets store bfloat16 as uint16; the model has the type.
    tensor.type = values[i].type().tensor_type().elem_type();
  }
  return tensors;
}

std::vector<std::optional<Tensor>> pick(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    const std::map<std::string, Tensor>& tensors) {
  std::vector<std::optional<Tensor>> picked;
  for (const std::string& name : names) {
    const auto found = tensors.find(name);
    picked.push_back(found == tensors.end() ? std::nullopt : std::optional(found->second));
  }
  return picked;
}

std::optional<OnnxNodeTest> read_test(const std::filesystem::path& folder) {
  const auto model = read_message<onnx::ModelProto>(folder / "model.onnx");
  const onnx::GraphProto& graph = model.graph();
  if (graph.node_size() != 1 || graph.initializer_size() != 0) return std::nullopt;
  if (!holds_tensors(graph.input()) || !holds_tensors(graph.output())) return std::nullopt;
  const onnx::NodeProto& node = graph.node(0);
  const int opset = static_cast<int>(model.opset_import(0).version());
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "");
  if (!node.domain().empty() || schema == nullptr) return std::nullopt;

  OnnxNodeTest test;
  test.name = folder.filename();
  test.op_type = node.op_type();
  test.since_version = schema->since_version();
  test.inputs = pick(node.input(), read_data(folder / "test_data_set_0", "input_", graph.input()));
  test.expected =
      pick(node.output(), read_data(folder / "test_data_set_0", "output_", graph.output()));
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    std::optional<NodeAttribute> value = to_attribute(attribute);
    if (!value) return std::nullopt;
    test.attributes.emplace_back(attribute.name(), std::move(*value));
  }
  return test;
}

}  // namespace

std::unique_ptr<SingleNodeGraph> OnnxNodeTest::graph(Stated stated, bool with_constants) const {
  auto graph = std::make_unique<SingleNodeGraph>(op_type, since_version);
  graph->state(stated);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      graph->skip_input();
    } else if (with_constants && i > 0) {
      graph->constant(*inputs[i]);
    } else {
      graph->input(*inputs[i]);
    }
  }
  for (const std::optional<Tensor>& output : expected) {
    if (output) {
      graph->output(*output);
    } else {
      graph->skip_output();
    }
  }
  for (const auto& [attribute, value] : attributes) graph->attribute(attribute, value);
  return graph;
}

std::vector<OnnxNodeTest> read_onnx_node_tests(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) folders.push_back(entry);
  std::sort(folders.begin(), folders.end());
  std::vector<OnnxNodeTest> tests;
  for (const auto& path : folders) {
    if (std::optional<OnnxNodeTest> test = read_test(path)) tests.push_back(std::move(*test));
  }
  return tests;
}

}  // namespace ephost::test
