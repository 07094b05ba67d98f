#include "host/worker/program/served_graph.h"

#include <exception>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plugin/adopt.h"
#include "host/worker/program/run_slot.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {
namespace {

template <class Record>
Status fill(const Record& record, Record* out) {
  if (plugin::fill(record, out) == EPH_OK) return {};
  return Status(StatusCode::kInvalidArgument, plugin::why_not_filled(out));
}

const eph_type* read_type(const wire::Type& type, Storage& storage) {
  eph_type out = {};
  out.kind = type.kind();
  out.element_type = type.element_type();
  out.rank = type.rank();
  out.shape = type.shape().data();
  out.dim_names = read(type.dim_names(), storage);
  if (type.has_content()) out.content = read_type(type.content(), storage);
  return storage.keep(out);
}

bool is_graph(int32_t kind) { return kind == EPH_ATTRIBUTE_GRAPH || kind == EPH_ATTRIBUTE_GRAPHS; }

bool is_value(int32_t kind) {
  return kind == EPH_ATTRIBUTE_TENSOR || kind == EPH_ATTRIBUTE_TENSORS ||
         kind == EPH_ATTRIBUTE_SPARSE_TENSOR || kind == EPH_ATTRIBUTE_SPARSE_TENSORS;
}

}  // namespace

Result<eph_node_info> read_node(CallState& call, const wire::Node& node, Storage& storage,
                                std::vector<std::unique_ptr<ServedGraph>>& bodies) {
  eph_node_info out = {};
  out.struct_size = sizeof(out);
  out.name = text_of(node.name());
  out.op_type = text_of(node.op_type());
  out.domain = text_of(node.domain());
  out.overload = text_of(node.overload());
  out.since_version = node.since_version();
  out.flags = node.flags();
  out.inputs = node.inputs().data();
  out.input_count = static_cast<uint64_t>(node.inputs_size());
  out.outputs = node.outputs().data();
  out.output_count = static_cast<uint64_t>(node.outputs_size());
  out.implicit_inputs = node.implicit_inputs().data();
  out.implicit_input_count = static_cast<uint64_t>(node.implicit_inputs_size());
  out.metadata = read(node.metadata(), storage);
  out.metadata_count = static_cast<uint64_t>(node.metadata_size());
  auto* const attributes =
      storage.array<eph_attribute>(static_cast<size_t>(node.attributes_size()));
  for (int i = 0; i < node.attributes_size(); ++i) {
    const wire::Attribute& given = node.attributes(i);
    attributes[i] = read(given, storage);
    if (is_graph(given.kind())) {
      auto** const graphs =
          storage.array<const eph_graph*>(static_cast<size_t>(given.graphs_size()));
      for (int g = 0; g < given.graphs_size(); ++g) {
        graphs[g] = bodies.emplace_back(std::make_unique<ServedGraph>(call, given.graphs(g))).get();
      }
      attributes[i].values = graphs;
      attributes[i].count = static_cast<uint64_t>(given.graphs_size());
    } else if (is_value(given.kind())) {
      auto* const values = storage.array<eph_value>(static_cast<size_t>(given.values_size()));
      for (int v = 0; v < given.values_size(); ++v) {
        EPHOST_ASSIGN_OR_RETURN(values[v], call.read(given.values(v)));
      }
      attributes[i].values = values;
      attributes[i].count = static_cast<uint64_t>(given.values_size());
    }
  }
  out.attributes = attributes;
  out.attribute_count = static_cast<uint64_t>(node.attributes_size());
  return out;
}

Result<eph_value_info> read_value_info(CallState& call, const wire::ValueInfo& value,
                                       Storage& storage, const wire::Callback* asked) {
  eph_value_info out = {};
  out.struct_size = sizeof(out);
  out.name = text_of(value.name());
  out.kind = value.kind();
  out.element_type = value.element_type();
  out.rank = value.rank();
  out.flags = value.flags();
  out.shape = value.shape().data();
  out.dim_names = read(value.dim_names(), storage);
  out.producer = value.producer();
  out.consumers = value.consumers().data();
  out.consumer_count = static_cast<uint64_t>(value.consumers_size());
  if (value.has_constant()) {
    EPHOST_ASSIGN_OR_RETURN(const eph_value constant, call.read(value.constant(), asked));
    out.constant = storage.keep(constant);
  }
  if (value.has_content()) out.content = read_type(value.content(), storage);
  return out;
}

const eph_graph_api ServedGraph::kApi = {sizeof(eph_graph_api),    &ServedGraph::get_graph,
                                         &ServedGraph::get_node,   &ServedGraph::get_value,
                                         &ServedGraph::find_value, &ServedGraph::get_opset,
                                         &ServedGraph::get_onnx};

ServedGraph::ServedGraph(CallState& call, const wire::Graph& graph)
    : eph_graph{&kApi}, call_(call), graph_(graph) {
  for (const wire::Node& node : graph.nodes()) given_nodes_[node.index()] = &node;
  for (const wire::ValueInfo& value : graph.values()) given_values_[value.index()] = &value;
}

std::pair<std::string, std::string> ServedGraph::describe_node(uint32_t node) const {
  const auto given = given_nodes_.find(node);
  if (given == given_nodes_.end() || given->second == nullptr) return {};
  return {given->second->op_type(), given->second->name()};
}

Result<const eph_node_info*> ServedGraph::node(uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (const auto known = nodes_.find(index); known != nodes_.end()) return &known->second;
  if (index >= graph_.node_count()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("get_node: the graph has {} nodes, and no node {}", graph_.node_count(), index));
  }
  const wire::Node*& given = given_nodes_[index];
  if (given == nullptr) {
    wire::Callback callback;
    callback.set_asked(wire::READ_GRAPH);
    callback.set_graph(graph_.number());
    callback.set_index(index);
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer* const answer, call_.ask_and_keep(callback));
    if (answer->code() != EPH_OK) {
      return Status(static_cast<StatusCode>(answer->code()), answer->message());
    }
    given = &answer->node();
  }
  EPHOST_ASSIGN_OR_RETURN(const eph_node_info info, read_node(call_, *given, storage_, bodies_));
  return &nodes_.emplace(index, info).first->second;
}

Result<const eph_value_info*> ServedGraph::value(uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (const auto known = values_.find(index); known != values_.end()) return &known->second;
  if (index >= graph_.value_count()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("get_value: the graph has {} values, and no value {}",
                            graph_.value_count(), index));
  }
  wire::Callback callback;
  callback.set_asked(wire::READ_GRAPH);
  callback.set_graph(graph_.number());
  callback.set_index(index);
  callback.set_is_value(true);
  const wire::ValueInfo*& given = given_values_[index];
  if (given == nullptr) {
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer* const answer, call_.ask_and_keep(callback));
    if (answer->code() != EPH_OK) {
      return Status(static_cast<StatusCode>(answer->code()), answer->message());
    }
    given = &answer->value_info();
  }
  callback.set_asked(wire::READ_CONSTANT);
  EPHOST_ASSIGN_OR_RETURN(const eph_value_info info,
                          read_value_info(call_, *given, storage_, &callback));
  return &values_.emplace(index, info).first->second;
}

Result<uint32_t> ServedGraph::index_of(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (!has_names_) {
    for (uint32_t i = 0; i < graph_.value_count(); ++i) {
      const auto given = given_values_.find(i);
      if (given != given_values_.end() && given->second != nullptr) {
        names_.emplace(given->second->name(), i);
      } else {
        EPHOST_ASSIGN_OR_RETURN(const eph_value_info* const info, value(i));
        names_.emplace(view(info->name), i);
      }
    }
    has_names_ = true;
  }
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  return Status(StatusCode::kNotFound,
                formatted("find_value: the graph has no value {}", quote(name)));
}

int32_t ServedGraph::get_graph(const eph_graph* handle, eph_graph_info* out,
                               eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    ServedGraph& graph = self(handle);
    const wire::Graph& given = graph.graph_;
    const std::lock_guard lock(graph.mutex_);
    eph_graph_info info = {};
    info.name = text_of(given.name());
    info.node_count = given.node_count();
    info.value_count = given.value_count();
    info.inputs = given.inputs().data();
    info.input_count = static_cast<uint64_t>(given.inputs_size());
    info.outputs = given.outputs().data();
    info.output_count = static_cast<uint64_t>(given.outputs_size());
    info.flags = given.flags();
    info.ir_version = given.ir_version();
    info.opsets = read_all<eph_opset>(given.opsets(), graph.storage_, [](const wire::Opset& opset) {
      return eph_opset{text_of(opset.domain()), opset.version()};
    });
    info.opset_count = static_cast<uint64_t>(given.opsets_size());
    info.metadata = read(given.metadata(), graph.storage_);
    info.metadata_count = static_cast<uint64_t>(given.metadata_size());
    return fill(info, out);
  });
}

int32_t ServedGraph::get_node(const eph_graph* handle, uint32_t node, eph_node_info* out,
                              eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const eph_node_info* const info, self(handle).node(node));
    return fill(*info, out);
  });
}

int32_t ServedGraph::get_value(const eph_graph* handle, uint32_t value, eph_value_info* out,
                               eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const eph_value_info* const info, self(handle).value(value));
    return fill(*info, out);
  });
}

int32_t ServedGraph::find_value(const eph_graph* handle, eph_string name, uint32_t* out_value,
                                eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    if (out_value == nullptr) {
      return Status(StatusCode::kInvalidArgument, "find_value: out_value is null");
    }
    *out_value = EPH_NONE;
    EPHOST_ASSIGN_OR_RETURN(*out_value, self(handle).index_of(view(name)));
    return {};
  });
}

int64_t ServedGraph::get_opset(const eph_graph* handle, eph_string domain) noexcept {
  const std::string_view asked = view(domain);
  for (const wire::Opset& opset : self(handle).graph_.opsets()) {
    if (opset.domain() == asked) return opset.version();
  }
  return 0;
}

int32_t ServedGraph::get_onnx(const eph_graph* handle, uint64_t outside_bytes, eph_bytes* out,
                              eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    if (out == nullptr) return Status(StatusCode::kInvalidArgument, "get_onnx: out is null");
    *out = {};
    ServedGraph& graph = self(handle);
    const std::lock_guard lock(graph.mutex_);
    auto known = graph.onnx_.find(outside_bytes);
    if (known == graph.onnx_.end()) {
      wire::Callback callback;
      callback.set_asked(wire::GRAPH_GET_ONNX);
      callback.set_graph(graph.graph_.number());
      callback.set_outside_bytes(outside_bytes);
      EPHOST_ASSIGN_OR_RETURN(const auto bytes, graph.call_.ask_for_bytes(callback));
      known = graph.onnx_.emplace(outside_bytes, bytes).first;
    }
    *out = {known->second.data(), known->second.size()};
    return {};
  });
}

}  // namespace ephost::worker
