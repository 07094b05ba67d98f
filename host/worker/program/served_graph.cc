#include "host/worker/program/served_graph.h"

#include <optional>
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

// Whether a record refers to the description alone, so that it need not be kept.
bool is_plain(const PlainNode& node) {
  return node.attributes.count == 0 && node.metadata.count == 0;
}
bool is_plain(const PlainValueInfo& value) {
  return value.type.dim_names.count == 0 && value.type.content.count == 0 && value.constant == 0 &&
         value.in_region.count == 0;
}

}  // namespace

const eph_graph_api ServedGraph::kApi = {sizeof(eph_graph_api),    &ServedGraph::get_graph,
                                         &ServedGraph::get_node,   &ServedGraph::get_value,
                                         &ServedGraph::find_value, &ServedGraph::get_opset,
                                         &ServedGraph::get_onnx};

ServedGraph::ServedGraph(CallState& call, const wire::Graph& graph, const char* plain)
    : eph_graph{&kApi}, call_(call), graph_(graph) {
  if (graph.has_part()) take_part(graph.part(), plain);
}

void ServedGraph::take_part(const wire::GraphPart& part, const char* plain) {
  part_.emplace(part, plain);
  is_whole_ = part.is_whole();
  if (is_whole_) return;
  for (const PlainNode& node : part_->nodes()) given_nodes_[node.index] = &node;
  for (const PlainValueInfo& value : part_->values()) given_values_[value.index] = &value;
}

Status ServedGraph::read_part() {
  if (part_) return {};
  wire::Callback callback;
  callback.set_asked(wire::READ_GRAPH);
  callback.set_graph(graph_.number());
  callback.set_is_whole(true);
  EPHOST_ASSIGN_OR_RETURN(const CallState::Asked asked, call_.ask_and_keep(callback));
  take_part(asked.answer->part(), asked.plain);
  return {};
}

const PlainNode* ServedGraph::given_node(uint32_t index) const {
  if (is_whole_) return &part_->nodes()[index];
  const auto found = given_nodes_.find(index);
  return found == given_nodes_.end() ? nullptr : found->second;
}

const PlainValueInfo* ServedGraph::given_value(uint32_t index) const {
  if (is_whole_) return &part_->values()[index];
  const auto found = given_values_.find(index);
  return found == given_values_.end() ? nullptr : found->second;
}

std::pair<std::string, std::string> ServedGraph::describe_node(uint32_t node) const {
  const PlainNode* const given = node < graph_.node_count() ? given_node(node) : nullptr;
  if (given == nullptr) return {};
  return {copy(part_->text(given->op_type)), copy(part_->text(given->name))};
}

Result<eph_node_info> ServedGraph::node(uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (index >= graph_.node_count()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("get_node: the graph has {} nodes, and no node {}", graph_.node_count(), index));
  }
  EPHOST_RETURN_IF_ERROR(read_part());
  const PlainNode* given = given_node(index);
  if (given != nullptr && is_plain(*given)) return part_->read(call_, *given, storage_, bodies_);
  const eph_node_info*& known = nodes_[index];
  if (known != nullptr) return *known;
  std::optional<GraphPart> asked;
  if (given == nullptr) {
    wire::Callback callback;
    callback.set_asked(wire::READ_GRAPH);
    callback.set_graph(graph_.number());
    callback.set_index(index);
    EPHOST_ASSIGN_OR_RETURN(const CallState::Asked got, call_.ask_and_keep(callback));
    given = &asked.emplace(got.answer->part(), got.plain).nodes()[0];
  }
  EPHOST_ASSIGN_OR_RETURN(const eph_node_info info,
                          (asked ? *asked : *part_).read(call_, *given, storage_, bodies_));
  return *(known = storage_.keep(info));
}

Result<eph_value_info> ServedGraph::value(uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (index >= graph_.value_count()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("get_value: the graph has {} values, and no value {}",
                            graph_.value_count(), index));
  }
  EPHOST_RETURN_IF_ERROR(read_part());
  const PlainValueInfo* given = given_value(index);
  if (given != nullptr && is_plain(*given)) return part_->read(call_, *given, storage_, nullptr);
  const eph_value_info*& known = values_[index];
  if (known != nullptr) return *known;
  std::optional<GraphPart> asked;
  if (given == nullptr) {
    wire::Callback callback;
    callback.set_asked(wire::READ_GRAPH);
    callback.set_graph(graph_.number());
    callback.set_index(index);
    callback.set_is_value(true);
    EPHOST_ASSIGN_OR_RETURN(const CallState::Asked got, call_.ask_and_keep(callback));
    given = &asked.emplace(got.answer->part(), got.plain).values()[0];
  }
  const GraphValue known_as = {graph_.number(), index};
  EPHOST_ASSIGN_OR_RETURN(const eph_value_info info,
                          (asked ? *asked : *part_).read(call_, *given, storage_, &known_as));
  return *(known = storage_.keep(info));
}

Result<uint32_t> ServedGraph::index_of(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (!has_names_) {
    EPHOST_RETURN_IF_ERROR(read_part());
    for (uint32_t i = 0; i < graph_.value_count(); ++i) {
      if (const PlainValueInfo* const given = given_value(i); given != nullptr) {
        names_.emplace(view(part_->text(given->name)), i);
      } else {
        EPHOST_ASSIGN_OR_RETURN(const eph_value_info info, value(i));
        names_.emplace(view(info.name), i);
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
    EPHOST_ASSIGN_OR_RETURN(const eph_node_info info, self(handle).node(node));
    return fill(info, out);
  });
}

int32_t ServedGraph::get_value(const eph_graph* handle, uint32_t value, eph_value_info* out,
                               eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const eph_value_info info, self(handle).value(value));
    return fill(info, out);
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
