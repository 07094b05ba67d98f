#include "host/bridge/graph_view.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"
#include "host/partition/partition.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

int32_t kind_of(graph::ValueKind kind) {
  switch (kind) {
    case graph::ValueKind::kTensor:
      return EPH_KIND_TENSOR;
    case graph::ValueKind::kSparseTensor:
      return EPH_KIND_SPARSE_TENSOR;
    case graph::ValueKind::kSequence:
      return EPH_KIND_SEQUENCE;
    case graph::ValueKind::kOptional:
      return EPH_KIND_OPTIONAL;
    case graph::ValueKind::kMap:
      return EPH_KIND_MAP;
    case graph::ValueKind::kUnknown:
      break;
  }
  return EPH_KIND_NONE;
}

bool has_content(graph::ValueKind kind) {
  return kind == graph::ValueKind::kSequence || kind == graph::ValueKind::kOptional ||
         kind == graph::ValueKind::kMap;
}

// Fills *out, and says why if that is impossible.
template <class Record>
int32_t give(const char* slot, const Record& record, Record* out, eph_error* error) noexcept {
  const int32_t code = plugin::fill(record, out);
  if (code == EPH_OK) return EPH_OK;
  return run_callback(error, [&] {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{}: {}", slot, plugin::why_not_filled(out)));
  });
}

eph_attribute attribute_of(const std::string& name, int32_t kind, const void* values,
                           uint64_t count) {
  return {to_abi(name), values, count, kind, 0};
}

template <class T>
eph_attribute list_of(const std::string& name, int32_t kind, const std::vector<T>& values) {
  return attribute_of(name, kind, values.data(), values.size());
}

}  // namespace

eph_value constant_value(const graph::Tensor& tensor, std::span<const eph_string> strings) {
  const bool is_text = tensor.type == ElementType::kString;
  const void* data = is_text ? static_cast<const void*>(strings.data())
                             : static_cast<const void*>(tensor.data.bytes.data());
  eph_value value = {};
  // The ABI has one struct for inputs and outputs; this one must not be written through.
  value.data = const_cast<void*>(data);
  value.shape = tensor.shape.data();
  value.byte_size = is_text ? strings.size_bytes() : tensor.data.bytes.size();
  value.rank = static_cast<uint32_t>(tensor.shape.size());
  value.element_type = static_cast<int32_t>(tensor.type);
  value.kind = EPH_KIND_TENSOR;
  return value;
}

const eph_graph_api GraphView::kApi = {
    sizeof(eph_graph_api),  &GraphView::get_graph, &GraphView::get_node, &GraphView::get_value,
    &GraphView::find_value, &GraphView::get_opset, &GraphView::get_onnx};

GraphView::GraphView(const graph::Graph& graph, const graph::Model& model,
                     std::span<const uint32_t> owner)
    : GraphView(graph, std::make_shared<const ModelView>(model), role_of(graph, model), owner) {}

GraphView::GraphView(const graph::Graph& graph, std::shared_ptr<const ModelView> model, Role role,
                     std::span<const uint32_t> owner)
    : eph_graph{&kApi}, graph_(graph), model_(std::move(model)), role_(role), owner_(owner) {
  constants_.reserve(graph.initializers.size());
  for (const graph::Tensor& tensor : graph.initializers) {
    constants_.push_back(constant_value(
        tensor, tensor.strings ? convert_strings(*tensor.strings) : std::span<const eph_string>()));
  }
  for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
    convert_type(id, graph.values[id].type);
  }
  attribute_begin_.reserve(graph.nodes.size() + 1);
  for (const graph::Node& node : graph.nodes) {
    attribute_begin_.push_back(attributes_.size());
    convert_attributes(node);
  }
  attribute_begin_.push_back(attributes_.size());
  convert_metadata();
}

void GraphView::convert_metadata() {
  const auto has_none = [](const graph::Node& node) { return node.metadata.empty(); };
  if (std::all_of(graph_.nodes.begin(), graph_.nodes.end(), has_none)) return;
  metadata_begin_.reserve(graph_.nodes.size() + 1);
  for (const graph::Node& node : graph_.nodes) {
    metadata_begin_.push_back(metadata_.size());
    for (const auto& [key, value] : node.metadata)
      metadata_.push_back({to_abi(key), to_abi(value)});
  }
  metadata_begin_.push_back(metadata_.size());
}

GraphView::OpenShape GraphView::convert_shape(const graph::Shape& shape) const {
  OpenShape open;
  const bool named = std::any_of(shape.begin(), shape.end(), graph::is_symbolic_dim);
  for (const int64_t dim : shape) {
    open.extents.push_back(graph::is_static_dim(dim) ? dim : -1);
    if (!named) continue;
    open.names.push_back(graph::is_symbolic_dim(dim)
                             ? to_abi(model_->model().symbols[graph::dim_symbol(dim)])
                             : eph_string{});
  }
  return open;
}

void GraphView::convert_type(graph::ValueId value, const graph::ValueType& type) {
  if (type.shape && !graph::is_static(*type.shape)) {
    open_shapes_.emplace_hint(open_shapes_.end(), value, convert_shape(*type.shape));
  }
  if (has_content(type.kind)) {
    contents_.emplace_hint(contents_.end(), value, convert_content(type));
  }
}

// What `type`, which is not a tensor, contains.
const eph_type* GraphView::convert_content(const graph::ValueType& type) {
  static const graph::ValueType kUnknown;
  const graph::ValueType& content = type.nested ? *type.nested : kUnknown;
  eph_type converted = {};
  converted.kind = kind_of(content.kind);
  converted.element_type = static_cast<int32_t>(content.element);
  converted.rank = -1;
  if (content.shape) {
    const OpenShape& shape = content_shapes_.emplace_back(convert_shape(*content.shape));
    converted.rank = static_cast<int32_t>(shape.extents.size());
    converted.shape = shape.extents.data();
    converted.dim_names = shape.names.empty() ? nullptr : shape.names.data();
  }
  if (has_content(content.kind)) converted.content = convert_content(content);
  return &types_.emplace_back(converted);
}

std::span<const eph_string> GraphView::convert_strings(std::span<const std::string> strings) {
  std::vector<eph_string>& converted = strings_.emplace_back();
  for (const std::string& text : strings) converted.push_back(to_abi(text));
  return converted;
}

const eph_value* GraphView::convert_tensors(std::span<const graph::Tensor> tensors) {
  std::vector<eph_value> converted;
  for (const graph::Tensor& tensor : tensors) {
    converted.push_back(constant_value(
        tensor, tensor.strings ? convert_strings(*tensor.strings) : std::span<const eph_string>()));
  }
  return values_.emplace_back(std::move(converted)).data();
}

const eph_value* GraphView::convert_sparse(std::span<const graph::SparseTensor> tensors) {
  std::vector<eph_value> converted;
  for (const graph::SparseTensor& sparse : tensors) {
    const std::vector<graph::Tensor> parts = {sparse.values, sparse.indices};
    const eph_value* pair = convert_tensors(parts);
    // `parts` is a temporary; the shapes must point into the model.
    std::vector<eph_value>& kept = values_.back();
    kept[0].shape = sparse.values.shape.data();
    kept[1].shape = sparse.indices.shape.data();
    eph_value value = {};
    value.data = const_cast<eph_value*>(pair);
    value.shape = sparse.shape.data();
    value.byte_size = 2 * sizeof(eph_value);
    value.rank = static_cast<uint32_t>(sparse.shape.size());
    value.element_type = static_cast<int32_t>(sparse.values.type);
    value.kind = EPH_KIND_SPARSE_TENSOR;
    converted.push_back(value);
  }
  return values_.emplace_back(std::move(converted)).data();
}

const void* GraphView::convert_graphs(std::span<const std::unique_ptr<graph::Graph>> graphs) {
  std::vector<const eph_graph*> list;
  for (const auto& graph : graphs) {
    list.push_back(&subgraphs_.emplace_back(*graph, model_, Role::kBody));
  }
  return graph_lists_.emplace_back(std::move(list)).data();
}

void GraphView::convert_attributes(const graph::Node& node) {
  for (const graph::Attribute& attribute : node.attributes) {
    const std::string& name = attribute.name;
    const auto convert = [&](const auto& value) -> eph_attribute {
      using T = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<T, int64_t>) {
        return attribute_of(name, EPH_ATTRIBUTE_INT, &value, 1);
      } else if constexpr (std::is_same_v<T, float>) {
        return attribute_of(name, EPH_ATTRIBUTE_FLOAT, &value, 1);
      } else if constexpr (std::is_same_v<T, std::string>) {
        return attribute_of(name, EPH_ATTRIBUTE_STRING, convert_strings({&value, 1}).data(), 1);
      } else if constexpr (std::is_same_v<T, graph::Blob>) {
        auto& text = strings_.emplace_back();
        text.push_back({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
        return attribute_of(name, EPH_ATTRIBUTE_STRING, text.data(), 1);
      } else if constexpr (std::is_same_v<T, graph::Tensor>) {
        return attribute_of(name, EPH_ATTRIBUTE_TENSOR, convert_tensors({&value, 1}), 1);
      } else if constexpr (std::is_same_v<T, graph::SparseTensor>) {
        return attribute_of(name, EPH_ATTRIBUTE_SPARSE_TENSOR, convert_sparse({&value, 1}), 1);
      } else if constexpr (std::is_same_v<T, graph::ValueType>) {
        return attribute_of(name, EPH_ATTRIBUTE_TYPE_PROTO, nullptr, 0);
      } else if constexpr (std::is_same_v<T, std::unique_ptr<graph::Graph>>) {
        return attribute_of(name, EPH_ATTRIBUTE_GRAPH, convert_graphs({&value, 1}), 1);
      } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
        return list_of(name, EPH_ATTRIBUTE_INTS, value);
      } else if constexpr (std::is_same_v<T, std::vector<float>>) {
        return list_of(name, EPH_ATTRIBUTE_FLOATS, value);
      } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        const auto strings = convert_strings(value);
        return attribute_of(name, EPH_ATTRIBUTE_STRINGS, strings.data(), strings.size());
      } else if constexpr (std::is_same_v<T, std::vector<graph::Tensor>>) {
        return attribute_of(name, EPH_ATTRIBUTE_TENSORS, convert_tensors(value), value.size());
      } else if constexpr (std::is_same_v<T, std::vector<graph::SparseTensor>>) {
        return attribute_of(name, EPH_ATTRIBUTE_SPARSE_TENSORS, convert_sparse(value),
                            value.size());
      } else if constexpr (std::is_same_v<T, std::vector<graph::ValueType>>) {
        return attribute_of(name, EPH_ATTRIBUTE_TYPE_PROTOS, nullptr, 0);
      } else {
        static_assert(std::is_same_v<T, std::vector<std::unique_ptr<graph::Graph>>>);
        return attribute_of(name, EPH_ATTRIBUTE_GRAPHS, convert_graphs(value), value.size());
      }
    };
    attributes_.push_back(std::visit(convert, attribute.value));
  }
}

int32_t GraphView::refuse_index(const char* slot, const char* what, uint32_t index, size_t count,
                                eph_error* error) const noexcept {
  return run_callback(error, [&] {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{}: graph {} has no {} {}; its {} {}s are numbered from 0", slot,
                            quote(graph_.name), what, index, count, what));
  });
}

int32_t GraphView::get_graph(const eph_graph* handle, eph_graph_info* out,
                             eph_error* error) noexcept {
  const GraphView& view = self(handle);
  const graph::Graph& graph = view.graph_;
  eph_graph_info info = {};
  info.name = to_abi(graph.name);
  info.node_count = graph.nodes.size();
  info.value_count = graph.values.size();
  info.inputs = graph.inputs.data();
  info.input_count = graph.inputs.size();
  info.outputs = graph.outputs.data();
  info.output_count = graph.outputs.size();
  info.flags = view.role_ == Role::kBody ? uint32_t{EPH_GRAPH_BODY} : 0;
  info.ir_version = view.model_->model().ir_version;
  info.opsets = view.model_->opsets().data();
  info.opset_count = view.model_->opsets().size();
  info.metadata = view.model_->metadata().data();
  info.metadata_count = view.model_->metadata().size();
  return give("get_graph", info, out, error);
}

int32_t GraphView::get_node(const eph_graph* handle, uint32_t node, eph_node_info* out,
                            eph_error* error) noexcept {
  const GraphView& view = self(handle);
  const size_t count = view.graph_.nodes.size();
  if (node >= count) return view.refuse_index("get_node", "node", node, count, error);
  const graph::Node& from = view.graph_.nodes[node];
  const bool taken = !view.owner_.empty() && view.owner_[node] != partition::kUnassigned;
  eph_node_info info = {};
  info.name = to_abi(from.name);
  info.op_type = to_abi(from.op_type);
  info.domain = to_abi(from.domain);
  info.since_version = from.since_version;
  info.flags = taken ? EPH_NODE_TAKEN : 0;
  info.inputs = from.inputs.data();
  info.input_count = from.inputs.size();
  info.outputs = from.outputs.data();
  info.output_count = from.outputs.size();
  info.implicit_inputs = from.implicit_inputs.data();
  info.implicit_input_count = from.implicit_inputs.size();
  info.attributes = view.attributes_.data() + view.attribute_begin_[node];
  info.attribute_count = view.attribute_begin_[node + 1] - view.attribute_begin_[node];
  info.overload = to_abi(from.overload);
  if (!view.metadata_begin_.empty()) {
    info.metadata = view.metadata_.data() + view.metadata_begin_[node];
    info.metadata_count = view.metadata_begin_[node + 1] - view.metadata_begin_[node];
  }
  return give("get_node", info, out, error);
}

int32_t GraphView::get_value(const eph_graph* handle, uint32_t value, eph_value_info* out,
                             eph_error* error) noexcept {
  const GraphView& view = self(handle);
  const size_t count = view.graph_.values.size();
  if (value >= count) return view.refuse_index("get_value", "value", value, count, error);
  const graph::Value& from = view.graph_.values[value];
  eph_value_info info = {};
  info.name = to_abi(from.name);
  info.kind = kind_of(from.type.kind);
  info.element_type = static_cast<int32_t>(graph::content_element(from.type));
  info.rank = -1;
  if (from.is_graph_input) info.flags |= EPH_VALUE_GRAPH_INPUT;
  if (from.is_graph_output) info.flags |= EPH_VALUE_GRAPH_OUTPUT;
  if (from.outer != graph::kNoValue) info.flags |= EPH_VALUE_OUTER_SCOPE;
  if (from.type.shape) {
    info.rank = static_cast<int32_t>(from.type.shape->size());
    info.shape = from.type.shape->data();
    if (const auto open = view.open_shapes_.find(value); open != view.open_shapes_.end()) {
      info.shape = open->second.extents.data();
      info.dim_names = open->second.names.empty() ? nullptr : open->second.names.data();
    }
  }
  info.producer = from.producer;
  info.consumers = from.consumers.data();
  info.consumer_count = from.consumers.size();
  info.constant = from.is_constant() ? &view.constants_[from.initializer] : nullptr;
  if (has_content(from.type.kind)) info.content = view.contents_.find(value)->second;
  return give("get_value", info, out, error);
}

// The first call makes the index of names.
graph::ValueId GraphView::look_up(std::string_view name) const {
  std::call_once(has_names_, [this] {
    ids_by_name_.reserve(graph_.values.size());
    for (graph::ValueId id = 0; id < graph_.values.size(); ++id) {
      ids_by_name_.emplace(graph_.values[id].name, id);
    }
  });
  const auto found = ids_by_name_.find(name);
  return found == ids_by_name_.end() ? graph::kNoValue : found->second;
}

int32_t GraphView::find_value(const eph_graph* handle, eph_string name, uint32_t* out_value,
                              eph_error* error) noexcept {
  if (out_value != nullptr) *out_value = EPH_NONE;
  return run_callback(error, [&]() -> Status {
    if (out_value == nullptr) {
      return Status(StatusCode::kInvalidArgument, "find_value: out_value is null");
    }
    const GraphView& graph = self(handle);
    *out_value = graph.look_up(view(name));
    if (*out_value != graph::kNoValue) return Status::ok_status();
    return Status(
        StatusCode::kNotFound,
        formatted("find_value: none of the {} values of graph {} has the name {}",
                  graph.graph_.values.size(), quote(graph.graph_.name), quote(view(name))));
  });
}

int64_t GraphView::get_opset(const eph_graph* handle, eph_string domain) noexcept {
  const auto& imports = self(handle).model_->model().opset_imports;
  const std::string_view wanted = view(domain);
  // A linear search needs no std::string, and so cannot throw.
  for (const auto& [name, version] : imports) {
    if (name == wanted) return version;
  }
  return 0;
}

int32_t GraphView::get_onnx(const eph_graph* handle, uint64_t outside_bytes, eph_bytes* out,
                            eph_error* error) noexcept {
  if (out == nullptr) return report(error, StatusCode::kInvalidArgument, "get_onnx: out is null");
  *out = {};
  return run_callback(error, [&]() -> Status {
    const GraphView& view = self(handle);
    EPHOST_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes,
                            view.onnx_.get(view.graph_, view.model_->model(), outside_bytes));
    *out = {bytes.data(), bytes.size()};
    return Status::ok_status();
  });
}

}  // namespace ephost::bridge
