// A small host for tests of plugins, made of the ABI alone: graphs of float tensors, claims, runs
// and a context writer. It uses no code of the real host and implements the header in the simplest
// way.
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost::test {

inline eph_string to_abi(std::string_view text) { return {text.data(), text.size()}; }
inline std::string to_text(eph_string text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

class FakeError : public eph_error {
 public:
  FakeError() : eph_error{&kApi} {}
  std::string message;

 private:
  static void store(eph_error* error, eph_string text) noexcept {
    static_cast<FakeError*>(error)->message = to_text(text);
  }
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &store};
};

class FakeHost : public eph_host {
 public:
  FakeHost() : eph_host{&kApi} {}
  std::vector<std::string> log_lines;
  std::map<std::string, const void*> extensions;

 private:
  static FakeHost& self(const eph_host* host) {
    return const_cast<FakeHost&>(static_cast<const FakeHost&>(*host));
  }
  static void log(const eph_host* host, int32_t, eph_string text) noexcept {
    self(host).log_lines.push_back(to_text(text));
  }
  static const void* get_extension(const eph_host* host, eph_string id) noexcept {
    const auto found = self(host).extensions.find(to_text(id));
    return found == self(host).extensions.end() ? nullptr : found->second;
  }
  static constexpr eph_host_api kApi = {sizeof(eph_host_api), &log, &get_extension};
};

class FakeDevices : public eph_device_list {
 public:
  FakeDevices() : eph_device_list{&kApi} {}
  std::vector<std::string> names;

 private:
  static int32_t add(eph_device_list* list, const eph_device* device, eph_error*) noexcept {
    static_cast<FakeDevices*>(list)->names.push_back(to_text(device->name));
    return EPH_OK;
  }
  static constexpr eph_device_list_api kApi = {sizeof(eph_device_list_api), &add};
};

// A graph under construction; handles into it stay valid while it grows.
class FakeGraph : public eph_graph {
 public:
  FakeGraph() : eph_graph{&kApi} {}
  FakeGraph(const FakeGraph&) = delete;
  FakeGraph& operator=(const FakeGraph&) = delete;

  struct Value {
    std::string name;
    std::vector<int64_t> shape;
    int32_t element_type = EPH_FLOAT;
    bool has_rank = true;
    uint32_t flags = 0;
    uint32_t producer = EPH_NONE;
    std::vector<uint32_t> consumers;
    std::vector<float> data;
    std::unique_ptr<eph_value> constant;
  };
  struct Node {
    std::string op_type;
    std::vector<uint32_t> inputs;
    std::vector<uint32_t> outputs;
    int32_t since_version = 13;
    uint32_t flags = 0;
    std::vector<eph_attribute> attributes;
  };

  std::deque<Value> values;
  std::deque<Node> nodes;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;

  uint32_t add_value(std::string name, std::vector<int64_t> shape) {
    values.emplace_back();
    values.back().name = std::move(name);
    values.back().shape = std::move(shape);
    return static_cast<uint32_t>(values.size() - 1);
  }
  uint32_t add_input(std::string name, std::vector<int64_t> shape) {
    inputs.push_back(add_value(std::move(name), std::move(shape)));
    values.back().flags |= EPH_VALUE_GRAPH_INPUT;
    return inputs.back();
  }
  uint32_t add_constant(std::string name, std::vector<int64_t> shape, std::vector<float> data) {
    const uint32_t index = add_value(std::move(name), std::move(shape));
    Value& value = values.back();
    value.data = std::move(data);
    value.constant = std::make_unique<eph_value>(tensor(value.shape, value.data));
    return index;
  }
  // A node with one output of that shape; returns the output.
  uint32_t add_node(std::string op_type, std::vector<uint32_t> from, std::vector<int64_t> shape) {
    const auto index = static_cast<uint32_t>(nodes.size());
    const uint32_t output = add_value(op_type + "_" + std::to_string(index), std::move(shape));
    values[output].producer = index;
    for (const uint32_t value : from) {
      if (value != EPH_NONE) values[value].consumers.push_back(index);
    }
    nodes.push_back({std::move(op_type), std::move(from), {output}});
    return output;
  }
  void mark_output(uint32_t value) {
    outputs.push_back(value);
    values[value].flags |= EPH_VALUE_GRAPH_OUTPUT;
  }

  // Some of the nodes, ascending, as a graph of their own, like the one that a host makes from a
  // fused claim.
  [[nodiscard]] std::unique_ptr<FakeGraph> partition(const std::vector<uint32_t>& members) const {
    auto part = std::make_unique<FakeGraph>();
    std::map<uint32_t, uint32_t> renumbered;
    for (const uint32_t member : members) {
      std::vector<uint32_t> from;
      for (const uint32_t value : nodes[member].inputs)
        from.push_back(part->import(*this, value, renumbered));
      const uint32_t output = nodes[member].outputs[0];
      renumbered[output] = part->add_node(nodes[member].op_type, from, values[output].shape);
      part->nodes.back().since_version = nodes[member].since_version;
    }
    for (const uint32_t member : members) {
      const uint32_t output = nodes[member].outputs[0];
      if (is_read_outside(output, members)) part->mark_output(renumbered[output]);
    }
    return part;
  }

  static eph_value tensor(const std::vector<int64_t>& shape, const std::vector<float>& data) {
    eph_value value = {};
    value.data = const_cast<float*>(data.data());
    value.shape = shape.data();
    value.byte_size = data.size() * sizeof(float);
    value.rank = static_cast<uint32_t>(shape.size());
    value.element_type = EPH_FLOAT;
    value.kind = EPH_KIND_TENSOR;
    return value;
  }

 private:
  uint32_t import(const FakeGraph& from, uint32_t value, std::map<uint32_t, uint32_t>& renumbered) {
    if (const auto known = renumbered.find(value); known != renumbered.end()) return known->second;
    const Value& source = from.values[value];
    const uint32_t index = source.constant ? add_constant(source.name, source.shape, source.data)
                                           : add_input(source.name, source.shape);
    renumbered[value] = index;
    return index;
  }
  [[nodiscard]] bool is_read_outside(uint32_t value, const std::vector<uint32_t>& members) const {
    const std::vector<uint32_t>& readers = values[value].consumers;
    return (values[value].flags & EPH_VALUE_GRAPH_OUTPUT) != 0 ||
           std::any_of(readers.begin(), readers.end(), [&](uint32_t reader) {
             return std::find(members.begin(), members.end(), reader) == members.end();
           });
  }

  static const FakeGraph& self(const eph_graph* graph) {
    return static_cast<const FakeGraph&>(*graph);
  }
  static int32_t get_graph(const eph_graph* graph, eph_graph_info* out) noexcept {
    const FakeGraph& of = self(graph);
    *out = {sizeof(*out),     to_abi("fake"),   of.nodes.size(),   of.values.size(),
            of.inputs.data(), of.inputs.size(), of.outputs.data(), of.outputs.size()};
    return EPH_OK;
  }
  static int32_t get_node(const eph_graph* graph, uint32_t index, eph_node_info* out) noexcept {
    if (index >= self(graph).nodes.size()) return EPH_INVALID_ARGUMENT;
    const Node& node = self(graph).nodes[index];
    *out = {};
    out->struct_size = sizeof(*out);
    out->op_type = to_abi(node.op_type);
    out->since_version = node.since_version;
    out->flags = node.flags;
    out->inputs = node.inputs.data();
    out->input_count = node.inputs.size();
    out->outputs = node.outputs.data();
    out->output_count = node.outputs.size();
    out->attributes = node.attributes.data();
    out->attribute_count = node.attributes.size();
    return EPH_OK;
  }
  static int32_t get_value(const eph_graph* graph, uint32_t index, eph_value_info* out) noexcept {
    if (index >= self(graph).values.size()) return EPH_INVALID_ARGUMENT;
    const Value& value = self(graph).values[index];
    *out = {};
    out->struct_size = sizeof(*out);
    out->name = to_abi(value.name);
    out->kind = EPH_KIND_TENSOR;
    out->element_type = value.element_type;
    out->rank = value.has_rank ? static_cast<int32_t>(value.shape.size()) : -1;
    out->flags = value.flags;
    out->shape = value.shape.data();
    out->producer = value.producer;
    out->consumers = value.consumers.data();
    out->consumer_count = value.consumers.size();
    out->constant = value.constant.get();
    return EPH_OK;
  }
  static int64_t get_opset(const eph_graph*, eph_string domain) noexcept {
    return domain.size == 0 ? 17 : 0;
  }
  static int32_t get_onnx(const eph_graph*, eph_bytes* out, eph_error* error) noexcept {
    *out = {};
    error->api->set_message(error, to_abi("the fake host has no ONNX bytes"));
    return EPH_NOT_IMPLEMENTED;
  }
  static constexpr eph_graph_api kApi = {
      sizeof(eph_graph_api), &get_graph, &get_node, &get_value, &get_opset, &get_onnx};
};

class FakeClaims : public eph_claims {
 public:
  FakeClaims() : eph_claims{&kApi} {}
  std::vector<uint32_t> nodes;
  std::vector<std::vector<uint32_t>> fused;
  std::vector<uint32_t> flags;  // of each fused claim
  std::map<uint32_t, std::string> declined;
  std::vector<uint32_t> with_kernel;  // the nodes for which has_kernel returns 1

 private:
  static FakeClaims& self(eph_claims* claims) { return static_cast<FakeClaims&>(*claims); }
  static int32_t claim_node(eph_claims* claims, uint32_t node, eph_error*) noexcept {
    self(claims).nodes.push_back(node);
    return EPH_OK;
  }
  static int32_t claim_fused(eph_claims* claims, const eph_fused_claim* claim,
                             eph_error*) noexcept {
    self(claims).fused.emplace_back(claim->nodes, claim->nodes + claim->node_count);
    self(claims).flags.push_back(claim->flags);
    return EPH_OK;
  }
  static int32_t has_kernel(eph_claims* claims, uint32_t node) noexcept {
    const std::vector<uint32_t>& known = self(claims).with_kernel;
    return std::find(known.begin(), known.end(), node) == known.end() ? 0 : 1;
  }
  static void decline(eph_claims* claims, uint32_t node, eph_string reason) noexcept {
    self(claims).declined[node] = to_text(reason);
  }
  static constexpr eph_claims_api kApi = {sizeof(eph_claims_api), &claim_node, &claim_fused,
                                          &has_kernel, &decline};
};

class FakeContextWriter : public eph_context_writer {
 public:
  FakeContextWriter() : eph_context_writer{&kApi} {}
  struct Node {
    uint32_t computation = EPH_NONE;
    uint32_t payload = EPH_NONE;
    std::string source;
    std::string notes;
  };
  std::vector<std::string> payloads;
  std::vector<Node> nodes;

 private:
  static FakeContextWriter& self(eph_context_writer* writer) {
    return static_cast<FakeContextWriter&>(*writer);
  }
  static int32_t begin_payload(eph_context_writer* writer, uint32_t* out, eph_error*) noexcept {
    *out = static_cast<uint32_t>(self(writer).payloads.size());
    self(writer).payloads.emplace_back();
    return EPH_OK;
  }
  static int32_t write(eph_context_writer* writer, uint32_t payload, const void* data,
                       uint64_t size, eph_error*) noexcept {
    self(writer).payloads[payload].append(static_cast<const char*>(data), size);
    return EPH_OK;
  }
  static int32_t add_node(eph_context_writer* writer, const eph_context_node* node,
                          eph_error*) noexcept {
    self(writer).nodes.push_back(
        {node->computation, node->payload, to_text(node->source), to_text(node->notes)});
    return EPH_OK;
  }
  static constexpr eph_context_writer_api kApi = {sizeof(eph_context_writer_api), &begin_payload,
                                                  &write, &add_node};
};

// One call of compute with float inputs and one output whose memory the host has not prepared.
class FakeRun : public eph_run {
 public:
  explicit FakeRun(const std::vector<std::pair<std::vector<int64_t>, std::vector<float>>>& from) {
    for (const auto& [shape, data] : from) {
      shapes_.push_back(shape);
      data_.push_back(data);
      values_.push_back(FakeGraph::tensor(shapes_.back(), data_.back()));
    }
    for (const eph_value& value : values_) inputs_.push_back(&value);
    output_.kind = EPH_KIND_TENSOR;
    output_.element_type = EPH_FLOAT;
    static_cast<eph_run&>(*this) = {sizeof(eph_run),
                                    &kApi,
                                    inputs_.data(),
                                    &output_pointer_,
                                    static_cast<uint32_t>(inputs_.size()),
                                    1,
                                    nullptr};
  }
  FakeRun(const FakeRun&) = delete;
  FakeRun& operator=(const FakeRun&) = delete;

  std::vector<float> result;
  std::vector<int64_t> result_shape;
  bool is_cancelled_now = false;
  int32_t allocate_code = EPH_OK;
  int allocations = 0;
  std::vector<std::string> made;  // the values made and set, in order
  int32_t make_code = EPH_OK;     // the result of every function that makes a value

  // Prepares the output, as a host does with static shapes.
  void prepare(std::vector<int64_t> shape) {
    FakeError error;
    allocate_output(this, 0, EPH_FLOAT, shape.data(), static_cast<uint32_t>(shape.size()), &error);
    allocations = 0;
  }

 private:
  static FakeRun& self(eph_run* run) { return static_cast<FakeRun&>(*run); }
  static int32_t allocate_output(eph_run* run, uint32_t index, int32_t, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept {
    FakeRun& of = self(run);
    if (of.allocate_code != EPH_OK || index != 0) {
      error->api->set_message(error, to_abi("the fake host allocates nothing"));
      return index != 0 ? EPH_INVALID_ARGUMENT : of.allocate_code;
    }
    ++of.allocations;
    of.result_shape.assign(shape, shape + rank);
    size_t count = 1;
    for (uint32_t i = 0; i < rank; ++i) count *= static_cast<size_t>(shape[i]);
    of.result.assign(count, -1.0F);
    of.output_ = FakeGraph::tensor(of.result_shape, of.result);
    return EPH_OK;
  }
  static int32_t set_string(eph_run*, uint32_t, uint64_t, eph_string, eph_error* error) noexcept {
    error->api->set_message(error, to_abi("the fake host has no strings"));
    return EPH_NOT_IMPLEMENTED;
  }
  static void* allocate_scratch(eph_run* run, uint64_t size) noexcept {
    self(run).scratch_.emplace_back(size);
    return self(run).scratch_.back().data();
  }
  static int32_t is_cancelled(const eph_run* run) noexcept {
    return static_cast<const FakeRun&>(*run).is_cancelled_now ? 1 : 0;
  }
  // Records what is made; values have only an address.
  int32_t make(std::string what, const eph_value** out, eph_error* error) {
    *out = nullptr;
    if (make_code != EPH_OK) {
      error->api->set_message(error, to_abi("the fake host makes nothing"));
      return make_code;
    }
    made.push_back(std::move(what));
    *out = &made_values_.emplace_back();
    return EPH_OK;
  }
  // "input 1", or "value 0" for the first that was made.
  [[nodiscard]] std::string name_of(const eph_value* value) const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] == value) return "input " + std::to_string(i);
    }
    for (size_t i = 0; i < made_values_.size(); ++i) {
      if (&made_values_[i] == value) return "value " + std::to_string(i);
    }
    return value == nullptr ? "nothing" : "a stranger";
  }
  static int32_t make_tensor(eph_run* run, int32_t type, const int64_t*, uint32_t rank,
                             eph_value** out, eph_error* error) noexcept {
    const eph_value* value = nullptr;
    const int32_t code = self(run).make(
        "tensor of type " + std::to_string(type) + ", rank " + std::to_string(rank), &value, error);
    *out = const_cast<eph_value*>(value);
    return code;
  }
  static int32_t set_element(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error*) noexcept {
    self(run).made.push_back(self(run).name_of(tensor) + "[" + std::to_string(element) +
                             "] = " + std::string(text.data, text.size));
    return EPH_OK;
  }
  static int32_t make_sequence(eph_run* run, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out, eph_error* error) noexcept {
    std::string what = "sequence of " + self(run).name_of(base) + " at " +
                       std::to_string(position) + " less " + std::to_string(removed);
    for (uint64_t i = 0; i < count; ++i) what += " with " + self(run).name_of(inserted[i]);
    return self(run).make(what, out, error);
  }
  static int32_t make_map(eph_run* run, const eph_value* keys, const eph_value* values,
                          const eph_value** out, eph_error* error) noexcept {
    return self(run).make("map of " + self(run).name_of(keys) + " to " + self(run).name_of(values),
                          out, error);
  }
  static int32_t set_output(eph_run* run, uint32_t index, const eph_value* value,
                            eph_error*) noexcept {
    self(run).made.push_back("output " + std::to_string(index) + " = " + self(run).name_of(value));
    return EPH_OK;
  }
  static constexpr eph_run_api kApi = {
      sizeof(eph_run_api), &allocate_output, &set_string,    &allocate_scratch, &is_cancelled,
      &make_tensor,        &set_element,     &make_sequence, &make_map,         &set_output};

  std::deque<std::vector<int64_t>> shapes_;
  std::deque<std::vector<float>> data_;
  std::deque<eph_value> values_;
  std::vector<const eph_value*> inputs_;
  eph_value output_ = {};
  eph_value* output_pointer_ = &output_;
  std::deque<std::vector<char>> scratch_;
  std::deque<eph_value> made_values_;
};

}  // namespace ephost::test
