#include "host/onnx_io/inference/inference_guards.h"

#include <onnx/defs/data_type_utils.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/format.h"
#include "host/graph/checks.h"
#include "host/onnx_io/opsets/opset18_25.h"

namespace ephost::onnx_io {
namespace {

using graph::invalid_graph;

// onnx's name of a type, e.g. tensor(float); null if part of it is unknown.
onnx::DataType find_data_type(const onnx::TypeProto& type) {
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return nullptr;
  try {
    return onnx::Utils::DataTypeUtils::ToType(type);
  } catch (const std::exception&) {
    return nullptr;
  }
}

// onnx builds the text of a type to find its name; the names of tensor types are looked up once.
using TensorTypes = std::array<onnx::DataType, onnx::TensorProto::DataType_ARRAYSIZE>;

TensorTypes find_tensor_types() {
  TensorTypes types{};
  for (size_t element = 0; element < types.size(); ++element) {
    onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(static_cast<int32_t>(element));
    types[element] = find_data_type(type);
  }
  return types;
}

onnx::DataType data_type(const onnx::TypeProto& type) {
  static const TensorTypes kTensors = find_tensor_types();
  const auto element = static_cast<size_t>(type.tensor_type().elem_type());
  return type.has_tensor_type() && element < kTensors.size() ? kTensors[element]
                                                             : find_data_type(type);
}

bool takes_tensors(const onnx::OpSchema::FormalParameter& parameter) {
  const auto& types = parameter.GetTypes();
  return std::any_of(types.begin(), types.end(),
                     [](const onnx::DataType type) { return type->rfind("tensor(", 0) == 0; });
}

Status check_input_types(const onnx::OpSchema& schema, const NodeFacts& facts) {
  const auto& formal = schema.inputs();
  const bool is_host_defined = is_host_definition(schema);  // does not list all types
  if (formal.empty()) return Status::ok_status();
  for (size_t i = 0; i < facts.types.size(); ++i) {
    if (!facts.types[i]) continue;
    const onnx::DataType found = data_type(*facts.types[i]);
    const auto& parameter = formal[std::min(i, formal.size() - 1)];
    const bool any_tensor =
        is_host_defined && facts.types[i]->has_tensor_type() && takes_tensors(parameter);
    if (found && !any_tensor && !parameter.GetTypes().contains(found)) {
      return invalid_graph(
          formatted("input {} ({}) must not be {}", i, parameter.GetName(), *found));
    }
  }
  return Status::ok_status();
}

// What the guards need to know about a node.
class NodeView {
 public:
  NodeView(const onnx::NodeProto& node, const NodeFacts& facts) : node_(node), facts_(facts) {}

  std::string_view op_type() const { return node_.op_type(); }
  int64_t input_count() const { return node_.input_size(); }
  int64_t output_count() const { return node_.output_size(); }

  // Null unless the input is a tensor of known rank.
  const onnx::TensorShapeProto* shape(size_t input) const {
    if (input >= facts_.types.size() || !facts_.types[input]) return nullptr;
    const onnx::TypeProto& type = *facts_.types[input];
    return type.tensor_type().has_shape() ? &type.tensor_type().shape() : nullptr;
  }

  std::optional<int> rank(size_t input) const {
    const onnx::TensorShapeProto* known = shape(input);
    return known ? std::optional(known->dim_size()) : std::nullopt;
  }

  const onnx::AttributeProto* attribute(std::string_view name) const {
    for (const onnx::AttributeProto& candidate : node_.attribute()) {
      if (candidate.name() == name) return &candidate;
    }
    return nullptr;
  }

  int64_t integer(std::string_view name, int64_t default_value) const {
    const onnx::AttributeProto* found = attribute(name);
    return found ? found->i() : default_value;
  }

  // Whether the input is a constant without elements.
  bool is_empty(size_t input) const {
    const onnx::TensorProto* data = input < facts_.types.size() ? facts_.constants[input] : nullptr;
    return data != nullptr && data->raw_data().empty();
  }

  // Whether the input is a constant with an element that is zero.
  bool has_zero(size_t input) const {
    const onnx::TensorProto* data = input < facts_.types.size() ? facts_.constants[input] : nullptr;
    if (!data) return false;
    const std::string& raw = data->raw_data();
    const size_t element = data->data_type() == onnx::TensorProto::INT64 ? 8 : 4;
    const std::string zero(element, '\0');
    for (size_t i = 0; i + element <= raw.size(); i += element) {
      if (raw.compare(i, element, zero) == 0) return true;
    }
    return false;
  }

 private:
  const onnx::NodeProto& node_;
  const NodeFacts& facts_;
};

struct RankRule {
  std::string_view op_type;
  size_t input;
  int lowest;
  int highest;
  bool must_be_known = false;
};

constexpr int kAnyRank = std::numeric_limits<int>::max();
constexpr std::array<RankRule, 15> kRankRules = {{
    {"RNN", 0, 3, 3},
    {"GRU", 0, 3, 3},
    {"LSTM", 0, 3, 3},
    {"Gemm", 0, 2, 2},
    {"Gemm", 1, 2, 2},
    {"GatherND", 0, 1, kAnyRank},
    {"GatherND", 1, 1, kAnyRank},
    {"LayerNormalization", 0, 1, kAnyRank},
    {"STFT", 0, 2, 3},
    {"STFT", 1, 0, 0},
    {"STFT", 2, 1, 1},
    {"STFT", 3, 0, 0},
    {"DFT", 0, 2, kAnyRank},
    {"MaxUnpool", 1, 3, kAnyRank, true},
    {"MaxUnpool", 2, 1, 1},
}};

Status check_ranks(const NodeView& node) {
  for (const RankRule& rule : kRankRules) {
    if (rule.op_type != node.op_type()) continue;
    const std::optional<int> rank = node.rank(rule.input);
    if (!rank && rule.must_be_known) {
      return invalid_graph(formatted("the rank of input {} is not known", rule.input));
    }
    if (rank && (*rank < rule.lowest || *rank > rule.highest)) {
      return invalid_graph(formatted("input {} must not have rank {}", rule.input, *rank));
    }
  }
  return Status::ok_status();
}

// The limits far exceed what a tensor can have, and keep products of a few from overflowing.
constexpr int64_t kMaxAttributeValue = int64_t{1} << 20;

Status check_limits(std::string_view attribute, int64_t value, int64_t lowest, int64_t highest) {
  if (value >= lowest && value <= highest) return Status::ok_status();
  return invalid_graph(formatted("attribute {} must not be {}", attribute, value));
}

// The scanned inputs are the last ones; those before are the state, which is output first. In
// version 8 the sequence lengths come before all others.
Status check_scan(const onnx::OpSchema& schema, const NodeView& node) {
  if (node.op_type() != "Scan") return Status::ok_status();
  const int64_t inputs = node.input_count() - (schema.SinceVersion() == 8 ? 1 : 0);
  const int64_t scanned = node.integer("num_scan_inputs", 0);
  EPHOST_RETURN_IF_ERROR(check_limits("num_scan_inputs", scanned, 1, inputs));
  if (inputs - scanned <= node.output_count()) return Status::ok_status();
  return invalid_graph("it has more state inputs than outputs");
}

Status check_integers(const NodeView& node) {
  const std::string_view op = node.op_type();
  if (op == "OneHot" && node.is_empty(1)) return invalid_graph("the depth must not be empty");
  if (op == "SplitToSequence" && node.has_zero(1))
    return invalid_graph("a part must not have length 0");
  if (op == "DepthToSpace" || op == "SpaceToDepth") {
    return check_limits("blocksize", node.integer("blocksize", 1), 1, kMaxAttributeValue);
  }
  const std::optional<int> rank = node.rank(0);
  if (op == "GatherND") {
    return check_limits("batch_dims", node.integer("batch_dims", 0), 0,
                        rank ? *rank - 1 : kMaxAttributeValue);
  }
  if (op == "LayerNormalization" && rank) {
    return check_limits("axis", node.integer("axis", -1), -*rank, *rank - 1);
  }
  return Status::ok_status();
}

bool has_window(std::string_view op) {
  constexpr std::array<std::string_view, 9> kOperators = {
      "Conv",        "ConvInteger", "DeformConv", "QLinearConv", "ConvTranspose",
      "AveragePool", "MaxPool",     "LpPool",     "MaxUnpool"};
  return std::find(kOperators.begin(), kOperators.end(), op) != kOperators.end();
}

struct WindowAttribute {
  std::string_view name;
  int64_t lowest;
  int values_per_axis;
};

constexpr std::array<WindowAttribute, 6> kWindowAttributes = {{{"kernel_shape", 1, 1},
                                                               {"strides", 1, 1},
                                                               {"dilations", 1, 1},
                                                               {"pads", -kMaxAttributeValue, 2},
                                                               {"output_padding", 0, 1},
                                                               {"output_shape", 0, 1}}};

// Convolution and pooling: one value for each spatial axis, and nonzero strides.
Status check_window(const NodeView& node) {
  if (!has_window(node.op_type())) return Status::ok_status();
  const std::optional<int> rank = node.rank(0);
  if (rank && *rank < 3) return invalid_graph(formatted("input 0 must not have rank {}", *rank));
  const size_t filter = node.op_type() == "QLinearConv" ? 3 : 1;
  const bool has_filter = node.op_type().find("Conv") != std::string_view::npos;
  if (const auto filter_rank = node.rank(filter); has_filter && rank && filter_rank != rank) {
    if (filter_rank) return invalid_graph("input and filter must be of the same rank");
  }
  for (const WindowAttribute& expected : kWindowAttributes) {
    const onnx::AttributeProto* found = node.attribute(expected.name);
    if (!found) continue;
    // The output shape of ConvTranspose may include batch and channels.
    const int spatial = rank.value_or(0) - 2;
    const bool is_full = expected.name == "output_shape" && found->ints_size() == spatial + 2;
    if (rank && found->ints_size() != spatial * expected.values_per_axis && !is_full) {
      return invalid_graph(formatted("attribute {} has {} values, which does not fit rank {}",
                                     expected.name, found->ints_size(), *rank));
    }
    for (const int64_t value : found->ints()) {
      EPHOST_RETURN_IF_ERROR(check_limits(expected.name, value, expected.lowest, int64_t{1} << 40));
    }
  }
  return Status::ok_status();
}

// Inputs that hold a shape: a list of known length becomes a shape of that rank.
Status check_shape_inputs(const NodeView& node) {
  constexpr int64_t kMaxRank = 4096;
  for (const auto& [op, input] :
       {std::pair("ConstantOfShape", size_t{0}), std::pair("Expand", size_t{1}),
        std::pair("Reshape", size_t{1}), std::pair("Tile", size_t{1}),
        std::pair("Resize", size_t{3}), std::pair("AffineGrid", size_t{1}),
        std::pair("CenterCropPad", size_t{1}), std::pair("Col2Im", size_t{1}),
        std::pair("Col2Im", size_t{2}), std::pair("MaxUnpool", size_t{2})}) {
    if (node.op_type() != op) continue;
    const onnx::TensorShapeProto* shape = node.shape(input);
    if (shape && shape->dim_size() == 1 && shape->dim(0).dim_value() > kMaxRank) {
      return invalid_graph(
          formatted("the shape in input {} has {} dimensions", input, shape->dim(0).dim_value()));
    }
  }
  return Status::ok_status();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// What onnx expects of an equation without checking it: each operand has the rank of its input, and
// the result has indices of operands only. An operand is refused too if its ellipsis stands for
// more dimensions than the first one.
Status check_equation(std::string_view equation, const NodeView& node) {
  const size_t arrow = std::min(equation.find("->"), equation.size());
  const std::string_view operands = equation.substr(0, arrow);
  const std::string_view result = equation.substr(std::min(arrow + 2, equation.size()));
  std::optional<size_t> first_ellipsis;
  size_t input = 0;
  for (size_t begin = 0; begin <= operands.size(); ++input) {
    const size_t end = std::min(operands.find(',', begin), operands.size());
    const std::string_view operand = operands.substr(begin, end - begin);
    begin = end + 1;
    const std::optional<int> rank = node.rank(input);
    if (!rank) continue;
    const auto letters =
        static_cast<size_t>(std::count_if(operand.begin(), operand.end(), is_letter));
    const bool has_ellipsis = operand.find("...") != std::string_view::npos;
    const auto extents = static_cast<size_t>(*rank);
    if (letters > extents || (letters < extents && !has_ellipsis)) {
      return invalid_graph(
          formatted("operand {} of the equation does not have rank {}", input, extents));
    }
    if (!has_ellipsis) continue;
    if (!first_ellipsis) first_ellipsis = extents - letters;
    if (extents - letters > *first_ellipsis) {
      return invalid_graph(
          "a later ellipsis of the equation stands for more dimensions than the first");
    }
  }
  if (static_cast<int64_t>(input) != node.input_count()) {
    return invalid_graph(formatted("the equation has {} operands", input));
  }
  const bool is_known = std::all_of(result.begin(), result.end(), [&](char c) {
    return !is_letter(c) || operands.find(c) != std::string_view::npos;
  });
  return is_known ? Status::ok_status()
                  : invalid_graph("the result has an index that no operand has");
}

Status check_einsum(const NodeView& node) {
  const onnx::AttributeProto* equation = node.attribute("equation");
  if (node.op_type() != "Einsum" || equation == nullptr) return Status::ok_status();
  return check_equation(equation->s(), node);
}

}  // namespace

Status guard_inference(const onnx::OpSchema& schema, const onnx::NodeProto& node,
                       const NodeFacts& facts) {
  EPHOST_RETURN_IF_ERROR(check_input_types(schema, facts));
  const NodeView view(node, facts);
  EPHOST_RETURN_IF_ERROR(check_ranks(view));
  EPHOST_RETURN_IF_ERROR(check_integers(view));
  EPHOST_RETURN_IF_ERROR(check_scan(schema, view));
  EPHOST_RETURN_IF_ERROR(check_window(view));
  EPHOST_RETURN_IF_ERROR(check_einsum(view));
  return check_shape_inputs(view);
}

}  // namespace ephost::onnx_io
