#include "tests/support/fake_graph.h"

#include <algorithm>
#include <ephost/sdk/basics.hpp>

#include "tests/support/fill_record.h"

namespace ephost::test {
namespace {

// Fills an eph_attribute from a field that outlives it.
struct AttributeConverter {
  eph_attribute& out;
  std::deque<eph_string>& strings;

  void set(int32_t kind, const void* values, uint64_t count) const {
    out.kind = kind;
    out.values = values;
    out.count = count;
  }
  void operator()(const int64_t& value) const { set(EPH_ATTRIBUTE_INT, &value, 1); }
  void operator()(const float& value) const { set(EPH_ATTRIBUTE_FLOAT, &value, 1); }
  void operator()(const std::string& value) const {
    strings.push_back(eph::to_abi(value));
    set(EPH_ATTRIBUTE_STRING, &strings.back(), 1);
  }
  void operator()(const std::vector<int64_t>& values) const {
    set(EPH_ATTRIBUTE_INTS, values.data(), values.size());
  }
  void operator()(const std::vector<float>& values) const {
    set(EPH_ATTRIBUTE_FLOATS, values.data(), values.size());
  }
};

}  // namespace

const eph_graph_api FakeGraph::kApi = {
    sizeof(eph_graph_api),  &FakeGraph::get_graph, &FakeGraph::get_node, &FakeGraph::get_value,
    &FakeGraph::find_value, &FakeGraph::get_opset, &FakeGraph::get_onnx,
};

FakeGraph::FakeGraph() : eph_graph{&kApi} {}

uint32_t FakeGraph::add_value(const std::string& name, const Shape& shape, int32_t type) {
  auto value = std::make_unique<Value>();
  value->name = name;
  value->shape = shape;
  value->type = type;
  values_.push_back(std::move(value));
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t FakeGraph::add_input(const std::string& name, const Shape& shape, int32_t type) {
  const uint32_t value = add_value(name, shape, type);
  values_[value]->flags |= EPH_VALUE_GRAPH_INPUT;
  inputs_.push_back(value);
  return value;
}

uint32_t FakeGraph::finish_constant(uint32_t value, const void* data, std::size_t byte_size) {
  Value& target = *values_[value];
  target.is_constant = true;
  target.constant.data = const_cast<void*>(data);
  target.constant.shape = target.shape.data();
  target.constant.byte_size = byte_size;
  target.constant.rank = static_cast<uint32_t>(target.shape.size());
  target.constant.element_type = target.type;
  target.constant.kind = EPH_KIND_TENSOR;
  return value;
}

uint32_t FakeGraph::add_constant(const std::string& name, const Shape& shape,
                                 std::vector<float> data) {
  const uint32_t value = add_value(name, shape, EPH_ELEMENT_FLOAT);
  std::vector<float>& kept = values_[value]->floats = std::move(data);
  return finish_constant(value, kept.data(), kept.size() * sizeof(float));
}

uint32_t FakeGraph::add_integers(const std::string& name, std::vector<int64_t> data) {
  const uint32_t value = add_value(name, {static_cast<int64_t>(data.size())}, EPH_ELEMENT_INT64);
  std::vector<int64_t>& kept = values_[value]->ints = std::move(data);
  return finish_constant(value, kept.data(), kept.size() * sizeof(int64_t));
}

uint32_t FakeGraph::add_int8(const std::string& name, const Shape& shape,
                             std::vector<int8_t> data) {
  return add_bytes(name, shape, EPH_ELEMENT_INT8, std::move(data));
}

uint32_t FakeGraph::add_bytes(const std::string& name, const Shape& shape, int32_t type,
                              std::vector<int8_t> bytes) {
  const uint32_t value = add_value(name, shape, type);
  std::vector<int8_t>& kept = values_[value]->bytes = std::move(bytes);
  return finish_constant(value, kept.data(), kept.size());
}

void FakeGraph::convert_attributes(Node& node) {
  for (const auto& [name, value] : node.fields) {
    eph_attribute attribute = {};
    attribute.name = eph::to_abi(name);
    std::visit(AttributeConverter{attribute, node.strings}, value);
    node.attributes.push_back(attribute);
  }
}

uint32_t FakeGraph::add_node(const std::string& op_type, std::vector<uint32_t> inputs,
                             std::vector<uint32_t> outputs, const FakeAttributes& attributes,
                             int32_t since_version) {
  const auto index = static_cast<uint32_t>(nodes_.size());
  auto node = std::make_unique<Node>();
  node->name = op_type + "_" + std::to_string(index);
  node->op_type = op_type;
  node->inputs = std::move(inputs);
  node->outputs = std::move(outputs);
  node->fields = attributes;
  node->since_version = since_version;
  convert_attributes(*node);
  for (const uint32_t input : node->inputs) {
    if (input == EPH_NONE) continue;
    std::vector<uint32_t>& consumers = values_[input]->consumers;
    if (consumers.empty() || consumers.back() != index) consumers.push_back(index);
  }
  for (const uint32_t output : node->outputs) {
    if (output != EPH_NONE) values_[output]->producer = index;
  }
  nodes_.push_back(std::move(node));
  return index;
}

uint32_t FakeGraph::add(const std::string& op_type, std::vector<uint32_t> inputs,
                        const Shape& shape, const FakeAttributes& attributes,
                        int32_t since_version) {
  const uint32_t output = add_value("value" + std::to_string(values_.size()), shape);
  add_node(op_type, std::move(inputs), {output}, attributes, since_version);
  return output;
}

void FakeGraph::mark_output(uint32_t value) {
  values_[value]->flags |= EPH_VALUE_GRAPH_OUTPUT;
  outputs_.push_back(value);
}

void FakeGraph::mark_unranked(uint32_t value) { values_[value]->has_rank = false; }

void FakeGraph::mark_taken(uint32_t node) { nodes_[node]->flags |= EPH_NODE_TAKEN; }

uint32_t FakeGraph::adopt(const FakeGraph& other, uint32_t value,
                          std::map<uint32_t, uint32_t>& known) {
  const auto found = known.find(value);
  if (found != known.end()) return found->second;
  const Value& source = *other.values_[value];
  const uint32_t copy = add_value(source.name, source.shape, source.type);
  values_[copy]->has_rank = source.has_rank;
  if (source.is_constant) finish_constant(copy, source.constant.data, source.constant.byte_size);
  return known[value] = copy;
}

std::unique_ptr<FakeGraph> FakeGraph::extract(const std::vector<uint32_t>& nodes) const {
  const auto contains = [&](uint32_t node) {
    return std::binary_search(nodes.begin(), nodes.end(), node);
  };
  auto part = std::make_unique<FakeGraph>();
  std::map<uint32_t, uint32_t> known;
  for (const uint32_t index : nodes) {
    const Node& node = *nodes_[index];
    std::vector<uint32_t> inputs, outputs;
    for (const uint32_t input : node.inputs) {
      const bool is_new = input != EPH_NONE && known.find(input) == known.end();
      inputs.push_back(input == EPH_NONE ? EPH_NONE : part->adopt(*this, input, known));
      if (!is_new || values_[input]->is_constant) continue;
      part->values_[inputs.back()]->flags |= EPH_VALUE_GRAPH_INPUT;
      part->inputs_.push_back(inputs.back());
    }
    for (const uint32_t output : node.outputs) {
      outputs.push_back(output == EPH_NONE ? EPH_NONE : part->adopt(*this, output, known));
    }
    part->set_domain(part->add_node(node.op_type, inputs, outputs, node.fields, node.since_version),
                     node.domain);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == EPH_NONE) continue;
      const Value& value = *values_[node.outputs[i]];
      const bool leaves = (value.flags & EPH_VALUE_GRAPH_OUTPUT) != 0 ||
                          !std::all_of(value.consumers.begin(), value.consumers.end(), contains);
      if (leaves) part->mark_output(outputs[i]);
    }
  }
  return part;
}

std::unique_ptr<FakeGraph> FakeGraph::as_context_node() const {
  auto graph = std::make_unique<FakeGraph>();
  std::vector<uint32_t> inputs, outputs;
  for (const uint32_t input : inputs_) {
    inputs.push_back(graph->add_input(value_name(input), value_shape(input)));
  }
  for (const uint32_t output : outputs_) {
    outputs.push_back(graph->add_value(value_name(output), value_shape(output)));
  }
  graph->add_node("EPContext", inputs, outputs, {}, 1);
  for (const uint32_t output : outputs) graph->mark_output(output);
  return graph;
}

int32_t FakeGraph::get_graph(const eph_graph* graph, eph_graph_info* out,
                             eph_error* error) noexcept {
  const FakeGraph& fake = self(graph);
  eph_graph_info info = {};
  info.name = EPH_STRING("fake");
  info.node_count = fake.nodes_.size();
  info.value_count = fake.values_.size();
  info.inputs = fake.inputs_.data();
  info.input_count = fake.inputs_.size();
  info.outputs = fake.outputs_.data();
  info.output_count = fake.outputs_.size();
  return fill_record(info, out, error);
}

int32_t FakeGraph::get_node(const eph_graph* graph, uint32_t index, eph_node_info* out,
                            eph_error* error) noexcept {
  const FakeGraph& fake = self(graph);
  if (index >= fake.nodes_.size()) {
    return refuse(error, EPH_INVALID_ARGUMENT, "the fake graph has no node of this index");
  }
  const Node& node = *fake.nodes_[index];
  eph_node_info info = {};
  info.name = eph::to_abi(node.name);
  info.op_type = eph::to_abi(node.op_type);
  info.domain = eph::to_abi(node.domain);
  info.since_version = node.since_version;
  info.flags = node.flags;
  info.inputs = node.inputs.data();
  info.input_count = node.inputs.size();
  info.outputs = node.outputs.data();
  info.output_count = node.outputs.size();
  info.attributes = node.attributes.data();
  info.attribute_count = node.attributes.size();
  return fill_record(info, out, error);
}

int32_t FakeGraph::get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                             eph_error* error) noexcept {
  const FakeGraph& fake = self(graph);
  if (index >= fake.values_.size()) {
    return refuse(error, EPH_INVALID_ARGUMENT, "the fake graph has no value of this index");
  }
  const Value& value = *fake.values_[index];
  eph_value_info info = {};
  info.name = eph::to_abi(value.name);
  info.kind = EPH_KIND_TENSOR;
  info.element_type = value.type;
  info.rank = value.has_rank ? static_cast<int32_t>(value.shape.size()) : -1;
  info.flags = value.flags;
  info.shape = value.shape.data();
  info.producer = value.producer;
  info.consumers = value.consumers.data();
  info.consumer_count = value.consumers.size();
  info.constant = value.is_constant ? &value.constant : nullptr;
  return fill_record(info, out, error);
}

int32_t FakeGraph::find_value(const eph_graph* graph, eph_string name, uint32_t* out_value,
                              eph_error* error) noexcept {
  *out_value = EPH_NONE;
  const FakeGraph& fake = self(graph);
  for (uint32_t id = 0; id < fake.values_.size(); ++id) {
    if (fake.values_[id]->name != eph::view(name)) continue;
    *out_value = id;
    return EPH_OK;
  }
  return refuse(error, EPH_NOT_FOUND, "the fake graph has no value of this name");
}

int64_t FakeGraph::get_opset(const eph_graph*, eph_string domain) noexcept {
  return domain.size == 0 ? 17 : 0;
}

int32_t FakeGraph::get_onnx(const eph_graph*, uint64_t, eph_bytes* out, eph_error* error) noexcept {
  *out = {};
  return refuse(error, EPH_NOT_IMPLEMENTED, "the fake host has no ONNX bytes");
}

}  // namespace ephost::test
