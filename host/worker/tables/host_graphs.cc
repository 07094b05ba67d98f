#include "host/worker/tables/host_graphs.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/worker/protocol/error_text.h"
#include "host/worker/protocol/records.h"
#include "host/worker/protocol/tensor_bytes.h"

namespace ephost::worker {
namespace {

// Constants up to this size go into the message where they lie in no region.
constexpr uint64_t kSmallConstant = 4096;
// Descriptions of graphs up to this size go into the message, larger ones into memory of their own.
constexpr size_t kSmallGraphs = 16384;

template <class T, class Field>
void add(const T* values, uint64_t count, Field& out) {
  if (values == nullptr) return;
  out.Add(values, values + count);
}

void write_texts(const eph_string* texts, uint64_t count,
                 google::protobuf::RepeatedPtrField<std::string>& out) {
  for (uint64_t i = 0; texts != nullptr && i < count; ++i) *out.Add() = copy(texts[i]);
}

PlainType plain_type(const eph_type& type, GraphPartWriter& writer) {
  const uint64_t rank = type.rank > 0 ? static_cast<uint64_t>(type.rank) : 0;
  PlainType plain = {type.kind, type.element_type, type.rank};
  plain.shape = writer.array(type.shape, rank);
  plain.dim_names = writer.texts(type.dim_names, rank);
  if (type.content != nullptr) {
    plain.content = writer.entries<PlainType>(1);
    writer.set(plain.content, 0, plain_type(*type.content, writer));
  }
  return plain;
}

// Nothing where it is none that lies in a region.
PlainList plain_constant(const eph_value& value, Outgoing& outgoing, GraphPartWriter& writer) {
  if (!is_numeric(value) || value.memory != 0 || value.byte_size == 0) return {};
  const auto place = outgoing.place(bytes_of(value));
  if (!place) return {};
  PlainConstant plain = {place->region->id, place->offset, value.byte_size, value.element_type};
  plain.shape = writer.array(value.shape, value.rank);
  return writer.array(&plain, 1);
}

void write_frame_of_value(const eph_value& value, wire::Value& out) {
  out.set_kind(value.kind);
  out.set_element_type(value.element_type);
  out.set_memory(value.memory);
  out.set_byte_size(value.byte_size);
  add(value.shape, value.rank, *out.mutable_shape());
}

Status failed(const char* what, int32_t code, const ErrorText& error) {
  return Status(static_cast<StatusCode>(code),
                formatted("{} of the graph failed: {}", what, error.text()));
}

}  // namespace

void write(const eph_value& value, Outgoing& outgoing, wire::Value& out) {
  write_frame_of_value(value, out);
  if (value.kind == EPH_KIND_NONE || value.data == nullptr) return;
  if (value.memory != 0) {
    out.set_address(reinterpret_cast<uint64_t>(value.data));
  } else if (is_numeric(value)) {
    if (outgoing.refer(bytes_of(value), *out.mutable_data()->mutable_shared())) return;
    out.mutable_data()->set_content(value.data, static_cast<size_t>(value.byte_size));
  } else if (value.kind == EPH_KIND_TENSOR) {
    write_texts(static_cast<const eph_string*>(value.data), value.byte_size / sizeof(eph_string),
                *out.mutable_texts());
  } else {
    const uint64_t count = value.kind == EPH_KIND_SEQUENCE
                               ? (value.rank == 0 ? 0 : static_cast<uint64_t>(value.shape[0]))
                               : 2;
    const auto* const parts = static_cast<const eph_value*>(value.data);
    for (uint64_t i = 0; i < count; ++i) write(parts[i], outgoing, *out.add_parts());
  }
}

// A worker may read a node with bodies again and again.
uint32_t HostGraphs::number_of(const eph_graph* graph) {
  const auto [known, is_new] =
      numbers_.try_emplace(graph, static_cast<uint32_t>(graphs_.size() + 1));
  if (is_new) graphs_.push_back(graph);
  return known->second;
}

Status HostGraphs::write_frame(const eph_graph* graph, wire::Graph& out) {
  out.set_number(number_of(graph));
  eph_graph_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_graph(graph, &info, &error);
  if (code != EPH_OK) return failed("get_graph", code, error);
  out.set_name(copy(info.name));
  out.set_node_count(info.node_count);
  out.set_value_count(info.value_count);
  add(info.inputs, info.input_count, *out.mutable_inputs());
  add(info.outputs, info.output_count, *out.mutable_outputs());
  out.set_flags(info.flags);
  out.set_ir_version(info.ir_version);
  for (uint64_t i = 0; i < info.opset_count; ++i) {
    wire::Opset& opset = *out.add_opsets();
    opset.set_domain(copy(info.opsets[i].domain));
    opset.set_version(info.opsets[i].version);
  }
  write(info.metadata, info.metadata_count, *out.mutable_metadata());
  return {};
}

Result<PlainAttribute> HostGraphs::plain_attribute(const eph_attribute& attribute,
                                                   GraphPartWriter& writer) {
  PlainAttribute plain;
  plain.name = writer.text(attribute.name);
  plain.kind = attribute.kind;
  const uint64_t count = attribute.values == nullptr ? 0 : attribute.count;
  switch (attribute.kind) {
    case EPH_ATTRIBUTE_FLOAT:
    case EPH_ATTRIBUTE_FLOATS:
      plain.values = writer.array(static_cast<const float*>(attribute.values), count);
      break;
    case EPH_ATTRIBUTE_INT:
    case EPH_ATTRIBUTE_INTS:
      plain.values = writer.array(static_cast<const int64_t*>(attribute.values), count);
      break;
    case EPH_ATTRIBUTE_STRING:
    case EPH_ATTRIBUTE_STRINGS:
      plain.values = writer.texts(static_cast<const eph_string*>(attribute.values), count);
      break;
    case EPH_ATTRIBUTE_TENSOR:
    case EPH_ATTRIBUTE_TENSORS:
    case EPH_ATTRIBUTE_SPARSE_TENSOR:
    case EPH_ATTRIBUTE_SPARSE_TENSORS: {
      wire::Rare& rare = writer.add_rare(plain.rare);
      for (uint64_t i = 0; i < count; ++i) {
        write(static_cast<const eph_value*>(attribute.values)[i], outgoing_, *rare.add_values());
      }
      break;
    }
    case EPH_ATTRIBUTE_GRAPH:
    case EPH_ATTRIBUTE_GRAPHS: {
      wire::Rare& rare = writer.add_rare(plain.rare);
      for (uint64_t i = 0; i < count; ++i) {
        EPHOST_RETURN_IF_ERROR(write_all(static_cast<const eph_graph* const*>(attribute.values)[i],
                                         *rare.add_graphs()));
      }
      break;
    }
    default:
      break;
  }
  return plain;
}

Status HostGraphs::write_node(const eph_node_info& info, uint32_t index, GraphPartWriter& writer) {
  PlainNode plain = {index, info.since_version, info.flags};
  plain.name = writer.text(info.name);
  plain.op_type = writer.text(info.op_type);
  plain.domain = writer.text(info.domain);
  plain.overload = writer.text(info.overload);
  plain.inputs = writer.array(info.inputs, info.input_count);
  plain.outputs = writer.array(info.outputs, info.output_count);
  plain.implicit_inputs = writer.array(info.implicit_inputs, info.implicit_input_count);
  plain.metadata = writer.entries<PlainPair>(info.metadata_count);
  for (uint64_t i = 0; i < info.metadata_count; ++i) {
    const eph_key_value& pair = info.metadata[i];
    writer.set(plain.metadata, i, PlainPair{writer.text(pair.key), writer.text(pair.value)});
  }
  plain.attributes = writer.entries<PlainAttribute>(info.attribute_count);
  for (uint64_t i = 0; i < info.attribute_count; ++i) {
    EPHOST_ASSIGN_OR_RETURN(const PlainAttribute attribute,
                            plain_attribute(info.attributes[i], writer));
    writer.set(plain.attributes, i, attribute);
  }
  writer.add(plain);
  return {};
}

void HostGraphs::write_value(const eph_value_info& info, uint32_t index, uint64_t most_inline,
                             GraphPartWriter& writer) {
  PlainValueInfo plain = {index, info.flags, info.producer};
  plain.type = plain_type(
      {info.kind, info.element_type, info.rank, 0, info.shape, info.dim_names, info.content},
      writer);
  plain.name = writer.text(info.name);
  plain.consumers = writer.array(info.consumers, info.consumer_count);
  if (info.constant != nullptr) {
    plain.in_region = plain_constant(*info.constant, outgoing_, writer);
    if (plain.in_region.count == 0) {
      write_constant(*info.constant, most_inline, *writer.add_rare(plain.constant).add_values());
    }
  }
  writer.add(plain);
}

void HostGraphs::write_constant(const eph_value& constant, uint64_t most_inline, wire::Value& out) {
  if (!is_numeric(constant) || constant.byte_size <= most_inline) {
    write(constant, outgoing_, out);
    return;
  }
  write_frame_of_value(constant, out);
  if (!outgoing_.refer(bytes_of(constant), *out.mutable_data()->mutable_shared())) {
    out.mutable_data()->set_on_request(true);
  }
}

Status HostGraphs::add_node(const eph_graph* graph, uint32_t index, GraphPartWriter& writer) {
  eph_node_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_node(graph, index, &info, &error);
  if (code != EPH_OK) return failed("get_node", code, error);
  return write_node(info, index, writer);
}

Status HostGraphs::add_value(const eph_graph* graph, uint32_t index, GraphPartWriter& writer) {
  eph_value_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_value(graph, index, &info, &error);
  if (code != EPH_OK) return failed("get_value", code, error);
  write_value(info, index, kSmallConstant, writer);
  return {};
}

void HostGraphs::expect(uint64_t nodes, uint64_t values) {
  // Names and lists take about as much as the records.
  plain_.reserve(plain_.size() + 2 * static_cast<size_t>(nodes * sizeof(PlainNode) +
                                                         values * sizeof(PlainValueInfo)));
}

Status HostGraphs::write_part(const eph_graph* graph, uint64_t nodes, uint64_t values,
                              wire::GraphPart& out) {
  out.set_is_whole(true);
  GraphPartWriter writer(plain_, out, nodes, values);
  for (uint32_t i = 0; i < nodes; ++i) EPHOST_RETURN_IF_ERROR(add_node(graph, i, writer));
  for (uint32_t i = 0; i < values; ++i) EPHOST_RETURN_IF_ERROR(add_value(graph, i, writer));
  return {};
}

Status HostGraphs::write_all(const eph_graph* graph, wire::Graph& out) {
  EPHOST_RETURN_IF_ERROR(write_frame(graph, out));
  if (plain_.empty()) expect(out.node_count(), out.value_count());
  return write_part(graph, out.node_count(), out.value_count(), *out.mutable_part());
}

Status HostGraphs::write_one(const eph_graph* graph, uint32_t node, wire::Graph& out) {
  EPHOST_RETURN_IF_ERROR(write_frame(graph, out));
  // Other nodes and values are asked for, which a kernel hardly ever does.
  eph_node_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_node(graph, node, &info, &error);
  if (code != EPH_OK) return failed("get_node", code, error);
  std::vector<uint32_t> values;
  const auto add = [&](const uint32_t* list, uint64_t count) {
    std::copy_if(list, list + count, std::back_inserter(values),
                 [](uint32_t value) { return value != EPH_NONE; });
  };
  add(info.inputs, info.input_count);
  add(info.outputs, info.output_count);
  add(info.implicit_inputs, info.implicit_input_count);
  GraphPartWriter writer(plain_, *out.mutable_part(), 1, values.size());
  EPHOST_RETURN_IF_ERROR(write_node(info, node, writer));
  for (const uint32_t value : values) {
    EPHOST_RETURN_IF_ERROR(add_value(graph, value, writer));
  }
  return {};
}

Status HostGraphs::write_operator(const eph_node_info& node,
                                  std::span<const std::pair<uint32_t, eph_value_info>> values,
                                  wire::Graph& out) {
  GraphPartWriter writer(plain_, *out.mutable_part(), 1, values.size());
  EPHOST_RETURN_IF_ERROR(write_node(node, 0, writer));
  for (const auto& [number, value] : values) {
    write_value(value, number, std::numeric_limits<uint64_t>::max(), writer);
  }
  return {};
}

Status HostGraphs::answer_whole(const eph_graph* graph, wire::Answer& out) {
  eph_graph_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_graph(graph, &info, &error);
  if (code != EPH_OK) return failed("get_graph", code, error);
  EPHOST_RETURN_IF_ERROR(write_part(graph, info.node_count, info.value_count, *out.mutable_part()));
  EPHOST_RETURN_IF_ERROR(
      attach("ephost-graph", std::as_bytes(std::span(std::as_const(plain_))), out));
  plain_ = {};
  return {};
}

Status HostGraphs::answer(const wire::Callback& callback, wire::Answer& out) {
  if (callback.graph() == 0 || callback.graph() > graphs_.size()) {
    return Status(StatusCode::kEpFail,
                  formatted("asks for graph {}, which it was not given", callback.graph()));
  }
  const eph_graph* const graph = graphs_[callback.graph() - 1];
  ErrorText error;
  int32_t code = EPH_OK;
  // What the host cannot do fails the callback alone.
  const auto check = [&](const Status& status) {
    if (status.ok()) return;
    code = static_cast<int32_t>(status.code());
    error.api->set_message(&error, text_of(status.message()));
  };
  if (callback.asked() == wire::READ_GRAPH && callback.is_whole()) {
    check(answer_whole(graph, out));
  } else if (callback.asked() == wire::GRAPH_GET_ONNX) {
    eph_bytes bytes = {};
    code = graph->api->get_onnx(graph, callback.outside_bytes(), &bytes, &error);
    if (code == EPH_OK) {
      check(attach("ephost-onnx",
                   {static_cast<const std::byte*>(bytes.data), static_cast<size_t>(bytes.size)},
                   out));
    }
  } else if (callback.asked() == wire::READ_GRAPH && !callback.is_value()) {
    eph_node_info info = {};
    info.struct_size = sizeof(info);
    code = graph->api->get_node(graph, callback.index(), &info, &error);
    if (code == EPH_OK) {
      GraphPartWriter writer(plain_, *out.mutable_part(), 1, 0);
      check(write_node(info, callback.index(), writer));
    }
  } else {
    eph_value_info info = {};
    info.struct_size = sizeof(info);
    code = graph->api->get_value(graph, callback.index(), &info, &error);
    if (code == EPH_OK && callback.asked() == wire::READ_GRAPH) {
      GraphPartWriter writer(plain_, *out.mutable_part(), 0, 1);
      write_value(info, callback.index(), kSmallConstant, writer);
    } else if (code == EPH_OK) {
      if (info.constant == nullptr || !is_numeric(*info.constant)) {
        return Status(StatusCode::kEpFail,
                      formatted("asks for the data of value {}, which has none", callback.index()));
      }
      check(attach("ephost-constant", bytes_of(*info.constant), out));
    }
  }
  out.set_plain(std::exchange(plain_, {}));
  set_code(code, error, out);
  return {};
}

Status HostGraphs::attach(const char* name, std::span<const std::byte> bytes, wire::Answer& out) {
  EPHOST_ASSIGN_OR_RETURN(FileDescriptor sealed, SealedMapping::seal(name, bytes));
  out.set_has_sealed(true);
  out.set_sealed_size(bytes.size());
  outgoing_.attach(std::move(sealed));
  return {};
}

Status HostGraphs::finish(wire::Request& request) {
  if (plain_.size() <= kSmallGraphs) {
    request.set_plain(std::exchange(plain_, {}));
    return {};
  }
  request.set_plain_size(plain_.size());
  EPHOST_ASSIGN_OR_RETURN(
      FileDescriptor sealed,
      SealedMapping::seal("ephost-graphs", std::as_bytes(std::span(std::as_const(plain_)))));
  outgoing_.attach(std::move(sealed));
  plain_ = {};
  return {};
}

}  // namespace ephost::worker
