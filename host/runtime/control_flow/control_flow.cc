#include "host/runtime/control_flow/control_flow.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/control_flow/control_flow_operators.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

using Maker = Result<std::unique_ptr<HostOperator>> (*)(ControlFlowNode);
struct Operator {
  std::string_view op_type;
  Maker make;
};
constexpr std::array<Operator, 4> kOperators = {{{"If", make_if},
                                                 {"Loop", make_loop},
                                                 {"Scan", make_scan},
                                                 {"SequenceMap", make_sequence_map}}};

const Operator* find_operator(const graph::Node& node) {
  if (!node.domain.empty()) return nullptr;
  const auto* const found = std::ranges::find(kOperators, node.op_type, &Operator::op_type);
  return found == kOperators.end() ? nullptr : found;
}

std::string describe(const eph_value& value) {
  return describe_tensor(static_cast<ElementType>(value.element_type), {value.shape, value.rank});
}

Result<const void*> only_element(const eph_value& value, ElementType type, std::string_view what,
                                 const HostStep& step) {
  const auto wanted = static_cast<int32_t>(type);
  const bool single = value.byte_size == graph::element_bits(type) / 8;
  if (value.kind == EPH_KIND_TENSOR && value.element_type == wanted && single) return value.data;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} of {} is {}; it must be one element of {}", what, step.describe(),
                          describe(value), graph::element_type_name(type)));
}

}  // namespace

bool is_control_flow(const graph::Node& node) { return find_operator(node) != nullptr; }

Result<std::unique_ptr<HostOperator>> make_control_flow(const graph::Graph& graph,
                                                        graph::NodeId node,
                                                        std::vector<BodyProgram> bodies) {
  if (const Operator* found = find_operator(graph.nodes[node])) {
    return found->make(ControlFlowNode(graph, node, std::move(bodies)));
  }
  return Status(StatusCode::kNotImplemented, graph::describe_node(graph, node) +
                                                 " is not an operator that the host runs itself");
}

Result<std::unique_ptr<Program>> ControlFlowNode::take_body(std::string_view attribute) {
  for (BodyProgram& body : bodies_) {
    if (body.attribute == attribute && body.program != nullptr) return std::move(body.program);
  }
  return invalid("has no body " + quote(attribute));
}

Result<std::vector<int64_t>> ControlFlowNode::list(std::string_view attribute, size_t count,
                                                   int64_t otherwise) const {
  const graph::AttributeValue* value = node().attribute(attribute);
  if (value == nullptr) return std::vector<int64_t>(count, otherwise);
  const auto* numbers = std::get_if<std::vector<int64_t>>(value);
  if (numbers != nullptr && numbers->size() == count) return *numbers;
  return invalid(
      formatted("has an attribute {} that is not a list of {} integers", quote(attribute), count));
}

Status ControlFlowNode::invalid(const std::string& what) const {
  return Status(StatusCode::kInvalidGraph, graph::describe_node(graph_, id_) + " " + what);
}

Status ControlFlowNode::check_inputs(const graph::Graph& body, size_t count) const {
  size_t needed = body.inputs.size();
  const auto has_default = [&](size_t input) {
    return body.values[body.inputs[input]].initializer != graph::kNoInitializer;
  };
  while (needed > count && has_default(needed - 1)) --needed;
  if (needed == count) return Status::ok_status();
  return invalid(formatted("has a body of {} inputs; the operator gives it {}", needed, count));
}

Status ControlFlowNode::check_outputs(const graph::Graph& body, size_t least, size_t own) const {
  const size_t given = body.outputs.size();
  if (given < least) {
    return invalid(formatted("has a body of {} outputs; the operator needs {}", given, least));
  }
  if (node().outputs.size() <= given - own) return Status::ok_status();
  return invalid(
      formatted("has {} outputs; its body gives {}", node().outputs.size(), given - own));
}

Result<bool> read_bool(const eph_value& value, std::string_view what, const HostStep& step) {
  EPHOST_ASSIGN_OR_RETURN(const void* data, only_element(value, ElementType::kBool, what, step));
  return *static_cast<const unsigned char*>(data) != 0;
}

Result<int64_t> read_int64(const eph_value& value, std::string_view what, const HostStep& step) {
  EPHOST_ASSIGN_OR_RETURN(const void* data, only_element(value, ElementType::kInt64, what, step));
  return *static_cast<const int64_t*>(data);
}

Result<const eph_value*> required_input(const HostStep& step, size_t index) {
  if (const eph_value* value = step.input(index)) return value;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} lacks its input {}", step.describe(), index));
}

void carry_on(BodyRunner& body, size_t first_output, std::span<HeldValue> carried) {
  for (size_t k = 0; k < carried.size(); ++k) {
    HeldValue old = std::exchange(carried[k], body.take(first_output + k));
    body.recycle(first_output + k, std::move(old));
  }
}

graph::ValueType declared_element(const graph::Graph& body, size_t body_output,
                                  const HostStep& step, size_t output) {
  graph::ValueType type = body.values[body.outputs[body_output]].type;
  if (type.element == ElementType::kUndefined) type.element = step.output_type(output).element;
  return type;
}

Status in_iteration(Status status, int64_t iteration, const HostStep& step) {
  return std::move(status).with_context(
      formatted("running iteration {} of {}", iteration, step.describe()));
}

}  // namespace ephost::runtime
