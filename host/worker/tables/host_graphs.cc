#include "host/worker/tables/host_graphs.h"

#include <algorithm>
#include <span>
#include <string>

#include "host/base/format.h"
#include "host/worker/protocol/error_text.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {
namespace {

// Constants up to this size go into the message where they lie in no region.
constexpr uint64_t kSmallConstant = 4096;

std::span<const std::byte> bytes_of(const eph_value& value) {
  return {static_cast<const std::byte*>(value.data), static_cast<size_t>(value.byte_size)};
}

bool is_plain_tensor(const eph_value& value) {
  return value.kind == EPH_KIND_TENSOR && value.element_type != EPH_ELEMENT_STRING;
}

template <class T, class Field>
void add(const T* values, uint64_t count, Field& out) {
  if (values == nullptr) return;
  out.Add(values, values + count);
}

void write_texts(const eph_string* texts, uint64_t count,
                 google::protobuf::RepeatedPtrField<std::string>& out) {
  for (uint64_t i = 0; texts != nullptr && i < count; ++i) *out.Add() = copy(texts[i]);
}

void write_type(const eph_type& type, wire::Type& out) {
  out.set_kind(type.kind);
  out.set_element_type(type.element_type);
  out.set_rank(type.rank);
  const uint64_t rank = type.rank > 0 ? static_cast<uint64_t>(type.rank) : 0;
  add(type.shape, rank, *out.mutable_shape());
  write_texts(type.dim_names, rank, *out.mutable_dim_names());
  if (type.content != nullptr) write_type(*type.content, *out.mutable_content());
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
  } else if (is_plain_tensor(value)) {
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

Status HostGraphs::write_frame(const eph_graph* graph, wire::Graph& out) {
  graphs_.push_back(graph);
  out.set_number(static_cast<uint32_t>(graphs_.size()));
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

void HostGraphs::write_node(const eph_node_info& info, uint32_t index, wire::Node& out,
                            Status& failure) {
  out.set_index(index);
  out.set_name(copy(info.name));
  out.set_op_type(copy(info.op_type));
  out.set_domain(copy(info.domain));
  out.set_overload(copy(info.overload));
  out.set_since_version(info.since_version);
  out.set_flags(info.flags);
  add(info.inputs, info.input_count, *out.mutable_inputs());
  add(info.outputs, info.output_count, *out.mutable_outputs());
  add(info.implicit_inputs, info.implicit_input_count, *out.mutable_implicit_inputs());
  write(info.metadata, info.metadata_count, *out.mutable_metadata());
  for (uint64_t i = 0; i < info.attribute_count; ++i) {
    const eph_attribute& attribute = info.attributes[i];
    wire::Attribute& added = *out.add_attributes();
    write(attribute, added);
    switch (attribute.kind) {
      case EPH_ATTRIBUTE_TENSOR:
      case EPH_ATTRIBUTE_TENSORS:
      case EPH_ATTRIBUTE_SPARSE_TENSOR:
      case EPH_ATTRIBUTE_SPARSE_TENSORS:
        for (uint64_t v = 0; attribute.values != nullptr && v < attribute.count; ++v) {
          write(static_cast<const eph_value*>(attribute.values)[v], outgoing_, *added.add_values());
        }
        break;
      case EPH_ATTRIBUTE_GRAPH:
      case EPH_ATTRIBUTE_GRAPHS:
        for (uint64_t g = 0; g < attribute.count && failure.ok(); ++g) {
          failure = write_all(static_cast<const eph_graph* const*>(attribute.values)[g],
                              *added.add_graphs());
        }
        break;
      default:
        break;
    }
  }
}

void HostGraphs::write_value(const eph_value_info& info, uint32_t index, wire::ValueInfo& out) {
  out.set_index(index);
  out.set_name(copy(info.name));
  out.set_kind(info.kind);
  out.set_element_type(info.element_type);
  out.set_rank(info.rank);
  out.set_flags(info.flags);
  const uint64_t rank = info.rank > 0 ? static_cast<uint64_t>(info.rank) : 0;
  add(info.shape, rank, *out.mutable_shape());
  write_texts(info.dim_names, rank, *out.mutable_dim_names());
  out.set_producer(info.producer);
  add(info.consumers, info.consumer_count, *out.mutable_consumers());
  if (info.content != nullptr) write_type(*info.content, *out.mutable_content());
  if (info.constant == nullptr) return;
  const eph_value& constant = *info.constant;
  wire::Value& written = *out.mutable_constant();
  if (!is_plain_tensor(constant) || constant.byte_size <= kSmallConstant) {
    write(constant, outgoing_, written);
    return;
  }
  write_frame_of_value(constant, written);
  if (!outgoing_.refer(bytes_of(constant), *written.mutable_data()->mutable_shared())) {
    written.mutable_data()->set_on_request(true);
  }
}

Status HostGraphs::add_node(const eph_graph* graph, uint32_t index, wire::Graph& out) {
  eph_node_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_node(graph, index, &info, &error);
  if (code != EPH_OK) return failed("get_node", code, error);
  Status failure;
  write_node(info, index, *out.add_nodes(), failure);
  return failure;
}

Status HostGraphs::add_value(const eph_graph* graph, uint32_t index, wire::Graph& out) {
  eph_value_info info = {};
  info.struct_size = sizeof(info);
  ErrorText error;
  const int32_t code = graph->api->get_value(graph, index, &info, &error);
  if (code != EPH_OK) return failed("get_value", code, error);
  write_value(info, index, *out.add_values());
  return {};
}

Status HostGraphs::write_all(const eph_graph* graph, wire::Graph& out) {
  EPHOST_RETURN_IF_ERROR(write_frame(graph, out));
  for (uint32_t i = 0; i < out.node_count(); ++i) {
    EPHOST_RETURN_IF_ERROR(add_node(graph, i, out));
  }
  for (uint32_t i = 0; i < out.value_count(); ++i) {
    EPHOST_RETURN_IF_ERROR(add_value(graph, i, out));
  }
  return {};
}

Status HostGraphs::write_one(const eph_graph* graph, uint32_t node, wire::Graph& out) {
  EPHOST_RETURN_IF_ERROR(write_frame(graph, out));
  // Inputs and outputs of the graph may be many, and a kernel has no use for them: they are asked
  // for with the graph's nodes.
  EPHOST_RETURN_IF_ERROR(add_node(graph, node, out));
  const wire::Node written = out.nodes(0);
  for (const auto* const list :
       {&written.inputs(), &written.outputs(), &written.implicit_inputs()}) {
    for (const uint32_t value : *list) {
      if (value == EPH_NONE) continue;
      EPHOST_RETURN_IF_ERROR(add_value(graph, value, out));
    }
  }
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
  if (callback.asked() == wire::GRAPH_GET_ONNX) {
    eph_bytes bytes = {};
    code = graph->api->get_onnx(graph, callback.outside_bytes(), &bytes, &error);
    if (code == EPH_OK) {
      EPHOST_ASSIGN_OR_RETURN(
          FileDescriptor sealed,
          SealedMapping::seal("ephost-onnx", {static_cast<const std::byte*>(bytes.data),
                                              static_cast<size_t>(bytes.size)}));
      out.set_has_sealed(true);
      out.set_sealed_size(bytes.size);
      outgoing_.attach(std::move(sealed));
    }
  } else if (callback.asked() == wire::READ_GRAPH && !callback.is_value()) {
    eph_node_info info = {};
    info.struct_size = sizeof(info);
    code = graph->api->get_node(graph, callback.index(), &info, &error);
    Status failure;
    if (code == EPH_OK) write_node(info, callback.index(), *out.mutable_node(), failure);
    EPHOST_RETURN_IF_ERROR(failure);
  } else {
    eph_value_info info = {};
    info.struct_size = sizeof(info);
    code = graph->api->get_value(graph, callback.index(), &info, &error);
    if (code == EPH_OK && callback.asked() == wire::READ_GRAPH) {
      write_value(info, callback.index(), *out.mutable_value_info());
    } else if (code == EPH_OK) {
      if (info.constant == nullptr || !is_plain_tensor(*info.constant)) {
        return Status(StatusCode::kEpFail,
                      formatted("asks for the data of value {}, which has none", callback.index()));
      }
      EPHOST_ASSIGN_OR_RETURN(FileDescriptor sealed,
                              SealedMapping::seal("ephost-constant", bytes_of(*info.constant)));
      out.set_has_sealed(true);
      out.set_sealed_size(info.constant->byte_size);
      outgoing_.attach(std::move(sealed));
    }
  }
  out.set_code(code);
  out.set_has_message(error.is_set());
  out.set_message(error.text());
  return {};
}

}  // namespace ephost::worker
