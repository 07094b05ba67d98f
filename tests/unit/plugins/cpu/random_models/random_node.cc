#include "tests/unit/plugins/cpu/random_models/random_node.h"

#include <onnx/defs/parser.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace ephost::test {
namespace {

using onnx::AttributeProto;
using onnx::OpSchema;
using onnx::TypeProto;

constexpr const char* kLeftOut = "_";

template <class Message>
Message parse(const std::string& text) {
  Message message;
  const auto status = onnx::OnnxParser::Parse(message, text.c_str());
  if (!status.IsOK()) throw std::runtime_error(text + ": " + status.ErrorMessage());
  return message;
}

RandomInput parse_input(const std::string& text) {
  RandomInput input;
  if (text.find(kLeftOut) != std::string::npos) {
    input.is_given = false;
    return input;
  }
  if (text.find('{') == std::string::npos) {
    input.type = parse<TypeProto>(text);
    return input;
  }
  const auto tensor = parse<onnx::TensorProto>(text);
  input.type = parse<TypeProto>(text.substr(0, text.find('{')));
  const auto add = [&](const auto& field) {
    for (const auto number : field) input.numbers.push_back(static_cast<double>(number));
  };
  add(tensor.float_data());
  add(tensor.double_data());
  add(tensor.int32_data());
  add(tensor.int64_data());
  add(tensor.uint64_data());
  input.texts.assign(tensor.string_data().begin(), tensor.string_data().end());
  return input;
}

RandomNode parse_line(const std::string& line) {
  const std::size_t bar = line.find('|');
  RandomNode made = {parse<onnx::NodeProto>(line.substr(0, bar)), {}};
  for (std::string& output : *made.node.mutable_output()) {
    if (output == kLeftOut) output.clear();
  }
  made.node.clear_input();
  if (bar == std::string::npos) return made;
  std::istringstream inputs(line.substr(bar + 1));
  for (std::string input; std::getline(inputs, input, ';');) {
    made.inputs.push_back(parse_input(input));
  }
  return made;
}

// ---- Changes ------------------------------------------------------------------------------------

// Mostly numbers that may be an axis, an extent or an index.
int64_t any_integer(Dice& dice) {
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  static const std::vector<int64_t> kOdd = {
      kMin,      kMin + 1,  kMax,    kMax - 1,     int64_t{1} << 31, int64_t{1} << 32,
      1LL << 48, 1LL << 62, 1 << 16, -(1LL << 31), (1LL << 31) - 1,  -(1LL << 62)};
  return dice.one_in(4) ? dice.pick(kOdd) : dice.roll(-3, 8);
}

float any_real(Dice& dice) {
  using Limits = std::numeric_limits<float>;
  static const std::vector<float> kOdd = {Limits::quiet_NaN(),
                                          Limits::infinity(),
                                          -Limits::infinity(),
                                          Limits::max(),
                                          Limits::lowest(),
                                          Limits::denorm_min(),
                                          -0.0F,
                                          1e10F};
  return dice.one_in(3) ? dice.pick(kOdd) : static_cast<float>(dice.roll(-4, 8)) / 4;
}

// Words that some operator knows, and others that none does.
std::string any_text(Dice& dice) {
  static const std::vector<std::string> kWords = {"",          "a",          "mean",
                                                  "sum",       "none",       "add",
                                                  "mul",       "max",        "linear",
                                                  "cubic",     "nearest",    "reflect",
                                                  "edge",      "wrap",       "SAME_UPPER",
                                                  "VALID",     "SAME_LOWER", "LEFT",
                                                  "tanh",      "reverse",    "bidirectional",
                                                  "Relu",      "Affine",     "LOGISTIC",
                                                  "SOFTMAX",   "PROBIT",     "RBF",
                                                  "BRANCH_EQ", "LEAF",       "CRD",
                                                  "ij->ji",    "...->",      "ii",
                                                  "[a",        "(a*)*b",     "\xff\xfe",
                                                  "circular",  "half_pixel", "align_corners",
                                                  "TFIDF",     "AVERAGE",    "asymmetric"};
  return dice.pick(kWords);
}

template <class List, class Draw>
void redraw(List& list, Dice& dice, const Draw& draw) {
  if (list.empty() || dice.one_in(4)) {
    list.Clear();
    for (int64_t i = dice.roll(0, 5); i > 0; --i) list.Add(draw());
  } else if (dice.one_in(4)) {
    dice.one_in(2) ? list.RemoveLast() : list.Add(draw());
  } else {
    dice.pick(list) = draw();
  }
}

void set_tensor(onnx::TensorProto& tensor, Dice& dice) {
  if (tensor.data_type() == onnx::TensorProto::STRING) return;
  tensor.Clear();
  tensor.set_data_type(static_cast<int32_t>(dice.roll(0, 1)) == 0 ? onnx::TensorProto::FLOAT
                                                                  : onnx::TensorProto::INT64);
  const int64_t count = dice.roll(0, 3);
  if (!dice.one_in(3)) tensor.add_dims(count);
  for (int64_t i = tensor.dims_size() == 0 ? 1 : count; i > 0; --i) {
    if (tensor.data_type() == onnx::TensorProto::FLOAT) {
      tensor.add_float_data(any_real(dice));
    } else {
      tensor.add_int64_data(any_integer(dice));
    }
  }
}

// Another value of the attribute's type.
void redraw(AttributeProto& attribute, Dice& dice) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      return attribute.set_i(any_integer(dice));
    case AttributeProto::FLOAT:
      return attribute.set_f(any_real(dice));
    case AttributeProto::STRING:
      return attribute.set_s(any_text(dice));
    case AttributeProto::INTS:
      return redraw(*attribute.mutable_ints(), dice, [&] { return any_integer(dice); });
    case AttributeProto::FLOATS:
      return redraw(*attribute.mutable_floats(), dice, [&] { return any_real(dice); });
    case AttributeProto::STRINGS: {
      auto& texts = *attribute.mutable_strings();
      if (texts.empty() || dice.one_in(3)) {
        *texts.Add() = any_text(dice);
      } else if (dice.one_in(3)) {
        texts.RemoveLast();
      } else {
        *texts.Mutable(static_cast<int>(dice.roll(0, texts.size() - 1))) = any_text(dice);
      }
      return;
    }
    case AttributeProto::TENSOR:
      return set_tensor(*attribute.mutable_t(), dice);
    default:
      return;
  }
}

void change_attribute(onnx::NodeProto& node, const OpSchema& schema, Dice& dice) {
  auto& attributes = *node.mutable_attribute();
  if (!attributes.empty() && dice.one_in(2)) {
    const int at = static_cast<int>(dice.roll(0, attributes.size() - 1));
    if (dice.one_in(5)) {
      attributes.DeleteSubrange(at, 1);
    } else {
      redraw(*attributes.Mutable(at), dice);
    }
    return;
  }
  if (schema.attributes().empty()) return;
  const auto definition =
      std::next(schema.attributes().begin(), dice.roll(0, std::ssize(schema.attributes()) - 1));
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const auto& given) {
    return given.name() == definition->first;
  });
  AttributeProto& attribute = found == attributes.end() ? *attributes.Add() : *found;
  attribute.set_name(definition->first);
  attribute.set_type(definition->second.type);
  redraw(attribute, dice);
}

// The tensor of a type that may hold several; null for maps.
TypeProto::Tensor* tensor_of(TypeProto& type) {
  if (type.has_tensor_type()) return type.mutable_tensor_type();
  if (type.has_sequence_type())
    return tensor_of(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type())
    return tensor_of(*type.mutable_optional_type()->mutable_elem_type());
  return nullptr;
}

int64_t any_extent(Dice& dice) {
  static const std::vector<int64_t> kExtents = {0, 1, 1, 2, 3, 4, 5, 7};
  return dice.pick(kExtents);
}

void change_shape(TypeProto& type, Dice& dice) {
  TypeProto::Tensor* tensor = tensor_of(type);
  if (tensor == nullptr) return;
  auto& dims = *tensor->mutable_shape()->mutable_dim();
  const int64_t kind = dice.roll(0, 7);
  if (kind == 0) {
    dims.Clear();
    for (int64_t d = dice.roll(0, 6); d > 0; --d) dims.Add()->set_dim_value(any_extent(dice));
  } else if (kind == 1 && dims.size() < 6) {
    dims.Add()->set_dim_value(any_extent(dice));
  } else if (kind == 2 && !dims.empty()) {
    dims.RemoveLast();
  } else if (!dims.empty()) {
    dims.Mutable(static_cast<int>(dice.roll(0, dims.size() - 1)))->set_dim_value(any_extent(dice));
  }
}

// One extent everywhere, which often leaves the node valid.
void change_extents(std::vector<RandomInput>& inputs, Dice& dice) {
  const int64_t from = dice.roll(1, 5);
  const int64_t to = any_extent(dice);
  for (RandomInput& input : inputs) {
    TypeProto::Tensor* tensor = tensor_of(input.type);
    if (tensor == nullptr) continue;
    for (auto& dim : *tensor->mutable_shape()->mutable_dim()) {
      if (dim.dim_value() == from) dim.set_dim_value(to);
    }
  }
}

void change_type(RandomNode& node, const std::vector<std::vector<int32_t>>& types, Dice& dice) {
  const auto at = static_cast<std::size_t>(dice.roll(0, std::ssize(node.inputs) - 1));
  TypeProto::Tensor* changed = tensor_of(node.inputs[at].type);
  if (changed == nullptr) return;
  const int32_t before = changed->elem_type();
  const int32_t type = dice.pick(types[std::min(at, types.size() - 1)]);
  changed->set_elem_type(type);
  if (dice.one_in(4)) return;
  for (RandomInput& input : node.inputs) {
    TypeProto::Tensor* tensor = tensor_of(input.type);
    if (tensor != nullptr && tensor->elem_type() == before) tensor->set_elem_type(type);
  }
}

void change_elements(RandomInput& input, Dice& dice) {
  using Elements = RandomInput::Elements;
  static const std::vector<Elements> kKinds = {Elements::kSmall, Elements::kLimits,
                                               Elements::kAnyBytes};
  if (!input.numbers.empty() && dice.one_in(2)) {
    dice.pick(input.numbers) = dice.one_in(2) ? static_cast<double>(any_integer(dice))
                                              : static_cast<double>(any_real(dice));
  } else {
    input.elements = dice.pick(kKinds);
  }
}

void change_outputs(onnx::NodeProto& node, const OpSchema& schema, Dice& dice) {
  auto& outputs = *node.mutable_output();
  if (outputs.size() < std::min(schema.max_output(), 6) && dice.one_in(2)) {
    *outputs.Add() = "y";
  } else if (outputs.size() > 1 && dice.one_in(2)) {
    outputs.RemoveLast();
  } else {
    outputs.Mutable(static_cast<int>(dice.roll(0, outputs.size() - 1)))->clear();
  }
}

}  // namespace

std::string full_name(const std::string& domain, const std::string& op_type) {
  return domain == "com.microsoft" ? domain + "." + op_type : op_type;
}

std::map<std::string, std::vector<RandomNode>> read_valid_nodes(const std::filesystem::path& file) {
  std::map<std::string, std::vector<RandomNode>> nodes;
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    RandomNode node = parse_line(line);
    nodes[full_name(node.node.domain(), node.node.op_type())].push_back(std::move(node));
  }
  return nodes;
}

RandomNode plain_node(const OpSchema& schema) {
  RandomNode made;
  made.node.set_op_type(schema.Name());
  made.node.add_output("y");
  const int fewest = schema.max_input() > 1 && schema.inputs().size() == 1 ? 2 : 1;
  for (int i = std::min(std::max(schema.min_input(), fewest), schema.max_input()); i > 0; --i) {
    made.inputs.push_back(parse_input("float[2,3]"));
  }
  return made;
}

void fit(RandomNode& node, const OpSchema& schema) {
  auto& attributes = *node.node.mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [&](const auto& attribute) {
                                    return schema.attributes().count(attribute.name()) == 0;
                                  }),
                   attributes.end());
  const auto most = static_cast<std::size_t>(schema.max_input());
  if (node.inputs.size() > most) node.inputs.resize(most);
  while (node.node.output_size() > schema.max_output()) node.node.mutable_output()->RemoveLast();
}

void change(RandomNode& node, const OpSchema& schema,
            const std::vector<std::vector<int32_t>>& types, Dice& dice) {
  const int64_t kind = dice.roll(0, 11);
  if (kind <= 2) return change_attribute(node.node, schema, dice);
  if (kind == 3) return change_outputs(node.node, schema, dice);
  if (kind == 4) return change_extents(node.inputs, dice);
  if (kind == 5 && std::ssize(node.inputs) < std::min(schema.max_input(), 6)) {
    node.inputs.push_back(parse_input(dice.one_in(2) ? "float[2,3]" : "int64[1] {1}"));
    return;
  }
  if (node.inputs.empty()) return;
  if (kind == 6) {
    if (dice.one_in(2)) {
      node.inputs.pop_back();
    } else {
      dice.pick(node.inputs).is_given = false;
    }
  } else if (kind <= 8) {
    change_shape(dice.pick(node.inputs).type, dice);
  } else if (kind == 9) {
    change_type(node, types, dice);
  } else {
    change_elements(dice.pick(node.inputs), dice);
  }
}

}  // namespace ephost::test
