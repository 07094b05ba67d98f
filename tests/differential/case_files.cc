#include "tests/differential/case_files.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ephost::test {

using namespace conformance;

namespace {

std::string dims_text(const Dims& dims) {
  std::string text = "[";
  for (const int64_t extent : dims) text += (text.size() > 1 ? "x" : "") + std::to_string(extent);
  return text + "]";
}

std::string attribute_text(const onnx::AttributeProto& attribute) {
  std::ostringstream text;
  text << attribute.name() << "=";
  if (attribute.type() == onnx::AttributeProto::INT) text << attribute.i();
  if (attribute.type() == onnx::AttributeProto::FLOAT) text << attribute.f();
  if (attribute.type() == onnx::AttributeProto::STRING) text << attribute.s();
  if (attribute.type() == onnx::AttributeProto::INTS) {
    text << dims_text({attribute.ints().begin(), attribute.ints().end()});
  }
  return text.str();
}

// Name and dimensions; of short constants their content.
std::string value_text(const std::string& name, const BoundedValues& values, bool is_constant) {
  if (name.empty()) return "-";
  const auto found = values.find(name);
  if (found == values.end()) return name;
  const BoundedTensor& tensor = found->second;
  if (tensor.numbers.empty()) return dims_text(tensor.integers);
  std::ostringstream text;
  text << name << dims_text(tensor.dims);
  if (is_constant && tensor.numbers.size() == 1) text << "=" << tensor.numbers[0].value;
  return text.str();
}

void write_message(const google::protobuf::MessageLite& message,
                   const std::filesystem::path& file) {
  std::ofstream stream(file, std::ios::binary);
  if (!message.SerializeToOstream(&stream) || !stream.flush()) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

onnx::TensorProto to_message(const std::string& name, const BoundedTensor& tensor) {
  onnx::TensorProto made;
  made.set_name(name);
  made.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : tensor.dims) made.add_dims(extent);
  for (const Bounded& x : tensor.numbers) made.add_float_data(static_cast<float>(x.value));
  return made;
}

}  // namespace

std::string describe(const Case& described) {
  const onnx::GraphProto& graph = described.model.graph();
  const BoundedValues values = evaluate_model(described.model, described.inputs[0]);
  std::string text = "opset " + std::to_string(opset_of(described.model)) + ", " +
                     std::to_string(described.inputs.size()) + " set(s) of inputs\n";
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Constant") continue;
    text += "  ";
    for (const std::string& name : node.output()) text += value_text(name, values, false) + " ";
    text += "= " + node.op_type() + "(";
    for (const std::string& name : node.input()) {
      const bool is_computed = name.starts_with("v") || name.starts_with("x");
      text += (&name == &node.input(0) ? "" : ", ") + value_text(name, values, !is_computed);
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      text += ", " + attribute_text(attribute);
    }
    text += ")\n";
  }
  text += "  outputs:";
  for (const onnx::ValueInfoProto& output : graph.output()) text += " " + output.name();
  return text + "\n";
}

void write_case(const Case& written, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_message(written.model, folder / "model.onnx");
  for (std::size_t set = 0; set < written.inputs.size(); ++set) {
    const auto of_set = folder / ("test_data_set_" + std::to_string(set));
    std::filesystem::create_directories(of_set);
    int number = 0;
    for (const auto& [name, tensor] : written.inputs[set]) {
      write_message(to_message(name, tensor),
                    of_set / ("input_" + std::to_string(number++) + ".pb"));
    }
    const BoundedValues values = evaluate_model(written.model, written.inputs[set]);
    number = 0;
    for (const onnx::ValueInfoProto& output : written.model.graph().output()) {
      write_message(to_message(output.name(), values.at(output.name())),
                    of_set / ("output_" + std::to_string(number++) + ".pb"));
    }
  }
}

}  // namespace ephost::test
