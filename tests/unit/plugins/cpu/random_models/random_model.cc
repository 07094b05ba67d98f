// The model of a random node, and the values that it runs on.
#include <onnx/defs/schema.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "tests/unit/plugins/cpu/random_models/random_node.h"

namespace ephost::test {
namespace {

using onnx::TypeProto;

// ---- Elements -----------------------------------------------------------------------------------

// Exact for the numbers of valid nodes; small numbers become 0, large ones infinite.
uint16_t to_half(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + 15;
  if (std::isnan(number)) return static_cast<uint16_t>(sign | 0x7e00);
  if (exponent <= 0) return sign;
  if (exponent >= 31) return static_cast<uint16_t>(sign | 0x7c00);
  return static_cast<uint16_t>(sign | exponent << 10 | static_cast<int>(bits >> 13 & 0x3ff));
}

template <class T>
void put(double number, std::byte* to) {
  T value = static_cast<T>(0);
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (number >= static_cast<double>(Limits::max())) {
      value = Limits::max();
    } else if (number <= static_cast<double>(Limits::min())) {
      value = Limits::min();
    } else if (!std::isnan(number)) {
      value = static_cast<T>(number);
    }
  } else {
    value = static_cast<T>(number);
  }
  std::memcpy(to, &value, sizeof(T));
}

// Returns false for types without numbers.
bool put_number(ElementType type, double number, std::byte* to) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return put<float>(number, to), true;
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return put<double>(number, to), true;
    case ElementType::kFloat16:
      return put<uint16_t>(to_half(static_cast<float>(number)), to), true;
    case ElementType::kBfloat16:
      return put<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(number)) >> 16, to), true;
    case ElementType::kBool:
      return put<uint8_t>(number != 0 ? 1 : 0, to), true;
    case ElementType::kUint8:
      return put<uint8_t>(number, to), true;
    case ElementType::kInt8:
      return put<int8_t>(number, to), true;
    case ElementType::kUint16:
      return put<uint16_t>(number, to), true;
    case ElementType::kInt16:
      return put<int16_t>(number, to), true;
    case ElementType::kUint32:
      return put<uint32_t>(number, to), true;
    case ElementType::kInt32:
      return put<int32_t>(number, to), true;
    case ElementType::kUint64:
      return put<uint64_t>(number, to), true;
    case ElementType::kInt64:
      return put<int64_t>(number, to), true;
    default:
      return false;
  }
}

double draw(RandomInput::Elements kind, Dice& dice) {
  static const std::vector<double> kLimits = {-HUGE_VAL, HUGE_VAL, std::nan(""), 0,     -1,
                                              1e10,      -1e10,    1e300,        1e-45, 127};
  return kind == RandomInput::Elements::kLimits ? dice.pick(kLimits)
                                                : static_cast<double>(dice.roll(-3, 5)) / 2;
}

void fill(Value& value, const RandomInput& input, Dice& dice) {
  const std::span<std::byte> bytes = value.mutable_bytes();
  const std::size_t count = std::max<std::size_t>(value.element_count(), 1);
  const bool is_given = input.elements == RandomInput::Elements::kGiven && !input.numbers.empty();
  const std::size_t size = bytes.size() / count;
  for (std::size_t i = 0; i < count && size > 0 && i * size < bytes.size(); ++i) {
    const double number =
        is_given ? input.numbers[i % input.numbers.size()] : draw(input.elements, dice);
    std::byte* to = bytes.data() + i * size;
    if (input.elements != RandomInput::Elements::kAnyBytes &&
        put_number(value.element_type(), number, to)) {
      continue;
    }
    for (std::size_t b = 0; b < size; ++b) to[b] = static_cast<std::byte>(dice.roll(0, 255));
  }
  if (size == 0) {  // several elements per byte
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.roll(0, 255));
  }
}

// ---- Values -------------------------------------------------------------------------------------

Value made(Result<Value> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return std::move(result).value();
}

Value make_tensor(ElementType type, const std::vector<int64_t>& shape, const RandomInput& input,
                  Dice& dice) {
  if (type != ElementType::kString) {
    Value value = made(Value::allocate(type, shape));
    fill(value, input, dice);
    return value;
  }
  static const std::vector<std::string> kTexts = {"",     "a",  "b c", "-1.5",     "1e999",
                                                  "\xff", "ab", ",",   "\xc3\x84", "nan"};
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const bool is_given = input.elements == RandomInput::Elements::kGiven && !input.texts.empty();
    texts.push_back(is_given ? input.texts[i % input.texts.size()] : dice.pick(kTexts));
  }
  return made(Value::of_strings(shape, std::move(texts)));
}

std::vector<int64_t> shape_of(const TypeProto::Tensor& tensor) {
  std::vector<int64_t> shape;
  for (const auto& dim : tensor.shape().dim()) shape.push_back(dim.dim_value());
  return shape;
}

Value make_value(const TypeProto& type, const RandomInput& input, Dice& dice) {
  if (type.has_optional_type()) {
    return dice.one_in(3) ? Value() : make_value(type.optional_type().elem_type(), input, dice);
  }
  if (type.has_sequence_type()) {
    const TypeProto& element = type.sequence_type().elem_type();
    std::vector<Value> values;
    for (int64_t i = dice.roll(0, 3); i > 0; --i)
      values.push_back(make_value(element, input, dice));
    return made(Value::sequence(std::move(values),
                                static_cast<ElementType>(element.tensor_type().elem_type())));
  }
  if (type.has_map_type()) {
    const std::vector<int64_t> shape = {dice.roll(0, 3)};
    const auto keys = static_cast<ElementType>(type.map_type().key_type());
    const TypeProto::Tensor& values = type.map_type().value_type().tensor_type();
    return made(
        Value::map(make_tensor(keys, shape, input, dice),
                   make_tensor(static_cast<ElementType>(values.elem_type()), shape, input, dice)));
  }
  const TypeProto::Tensor& tensor = type.tensor_type();
  return make_tensor(static_cast<ElementType>(tensor.elem_type()), shape_of(tensor), input, dice);
}

onnx::TensorProto to_initializer(const Value& value, const std::string& name) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int32_t>(value.element_type()));
  for (const int64_t extent : value.shape()) tensor.add_dims(extent);
  if (value.element_type() == ElementType::kString) {
    for (const std::string& text : value.strings()) tensor.add_string_data(text);
  } else {
    const auto* bytes = reinterpret_cast<const char*>(value.bytes().data());
    tensor.set_raw_data(bytes, value.bytes().size());
  }
  return tensor;
}

TypeProto stated_type(const RandomInput& input) {
  TypeProto type = input.type;
  if (!type.has_tensor_type()) return type;
  if (input.stated == RandomInput::Stated::kNoShape) type.mutable_tensor_type()->clear_shape();
  if (input.stated == RandomInput::Stated::kSymbols) {
    for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      dim.set_dim_param("n" + std::to_string(dim.dim_value()));
    }
  }
  return type;
}

void add_input(RandomModel& made, const RandomInput& input, Dice& dice) {
  onnx::GraphProto& graph = *made.model.mutable_graph();
  onnx::NodeProto& node = *graph.mutable_node(0);
  if (!input.is_given) {
    node.add_input("");
    return;
  }
  const std::string name = "x" + std::to_string(node.input_size());
  node.add_input(name);
  Value value = make_value(input.type, input, dice);
  if (input.stated == RandomInput::Stated::kConstant && input.type.has_tensor_type()) {
    *graph.add_initializer() = to_initializer(value, name);
    return;
  }
  onnx::ValueInfoProto& info = *graph.add_input();
  info.set_name(name);
  *info.mutable_type() = stated_type(input);
  made.inputs.push_back({name, std::move(value)});
}

}  // namespace

RandomModel make_model(const RandomNode& node, const onnx::OpSchema& schema, int opset,
                       Dice& dice) {
  RandomModel made;
  made.model.set_ir_version(8);
  onnx::OperatorSetIdProto& import = *made.model.add_opset_import();
  import.set_domain(schema.domain());
  import.set_version(opset);
  onnx::GraphProto& graph = *made.model.mutable_graph();
  graph.set_name("random");
  onnx::NodeProto& tested = *graph.add_node();
  tested = node.node;
  tested.set_name("tested");
  tested.set_domain(schema.domain());
  for (const RandomInput& input : node.inputs) add_input(made, input, dice);
  for (int i = 0; i < tested.output_size(); ++i) {
    if (tested.output(i).empty()) continue;
    tested.set_output(i, "y" + std::to_string(i));
    // Some outputs are not read, and for some the model declares type and shape.
    if (graph.output_size() > 0 && dice.one_in(6)) continue;
    onnx::ValueInfoProto& output = *graph.add_output();
    output.set_name(tested.output(i));
    if (!node.inputs.empty() && dice.one_in(12)) *output.mutable_type() = node.inputs[0].type;
  }
  return made;
}

}  // namespace ephost::test
