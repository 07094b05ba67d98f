// A graph as plugins see it through eph_graph_api: indices and pointers directly into graph::Graph,
// with converted copies only of what has another layout in the ABI (attributes, shapes with unknown
// extents, strings).
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/bridge/model_view.h"
#include "host/bridge/onnx_bytes.h"
#include "host/graph/graph.h"

namespace ephost::bridge {

// An eph_value for a constant tensor. String tensors need `strings`, with one eph_string for each
// element, which the caller keeps alive.
[[nodiscard]] eph_value constant_value(const graph::Tensor& tensor,
                                       std::span<const eph_string> strings);

// Borrows the graph and the model, which must neither move nor change meanwhile. All functions may
// be called concurrently.
class GraphView : public eph_graph {
 public:
  enum class Role {
    kWhole,  // the model's own graph, or a partition of it or of a body
    kBody,
  };

  // `owner`, if not empty, has one entry for each node: any value but partition::kUnassigned marks
  // the node as taken. It is read at each call.
  GraphView(const graph::Graph& graph, std::shared_ptr<const ModelView> model, Role role,
            std::span<const uint32_t> owner = {});
  // The same for a graph that alone is viewed: the model's own or a body, by its address.
  GraphView(const graph::Graph& graph, const graph::Model& model,
            std::span<const uint32_t> owner = {});
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;

  // The role of a graph that is not a partition.
  [[nodiscard]] static Role role_of(const graph::Graph& graph, const graph::Model& model) {
    return &graph == &model.graph ? Role::kWhole : Role::kBody;
  }

  [[nodiscard]] const graph::Graph& graph() const { return graph_; }

 private:
  static const GraphView& self(const eph_graph* handle) {
    return *static_cast<const GraphView*>(handle);
  }
  static int32_t get_graph(const eph_graph* handle, eph_graph_info* out, eph_error* error) noexcept;
  static int32_t get_node(const eph_graph* handle, uint32_t node, eph_node_info* out,
                          eph_error* error) noexcept;
  static int32_t get_value(const eph_graph* handle, uint32_t value, eph_value_info* out,
                           eph_error* error) noexcept;
  static int32_t find_value(const eph_graph* handle, eph_string name, uint32_t* out_value,
                            eph_error* error) noexcept;
  static int64_t get_opset(const eph_graph* handle, eph_string domain) noexcept;
  static int32_t get_onnx(const eph_graph* handle, uint64_t outside_bytes, eph_bytes* out,
                          eph_error* error) noexcept;
  static const eph_graph_api kApi;

  struct OpenShape {
    std::vector<int64_t> extents;
    std::vector<eph_string> names;  // empty where no dimension has a symbol
  };

  void convert_attributes(const graph::Node& node);
  void convert_metadata();
  [[nodiscard]] OpenShape convert_shape(const graph::Shape& shape) const;
  void convert_type(graph::ValueId value, const graph::ValueType& type);
  const eph_type* convert_content(const graph::ValueType& type);
  std::span<const eph_string> convert_strings(std::span<const std::string> strings);
  const eph_value* convert_tensors(std::span<const graph::Tensor> tensors);
  const eph_value* convert_sparse(std::span<const graph::SparseTensor> tensors);
  const void* convert_graphs(std::span<const std::unique_ptr<graph::Graph>> graphs);
  [[nodiscard]] int32_t refuse_index(const char* slot, const char* what, uint32_t index,
                                     size_t count, eph_error* error) const noexcept;
  [[nodiscard]] graph::ValueId look_up(std::string_view name) const;

  const graph::Graph& graph_;
  std::shared_ptr<const ModelView> model_;
  Role role_;
  std::span<const uint32_t> owner_;
  std::vector<eph_value> constants_;  // by initializer
  std::map<graph::ValueId, OpenShape> open_shapes_;
  std::map<graph::ValueId, const eph_type*> contents_;  // of values other than tensors
  std::vector<eph_attribute> attributes_;               // of all nodes, in their order
  std::vector<uint64_t> attribute_begin_;               // by node, with one more entry at the end
  std::vector<eph_key_value> metadata_;                 // of all nodes, in their order
  std::vector<uint64_t> metadata_begin_;  // like attribute_begin_; empty if no node has any
  // What converted attributes, constants and types point to; a deque keeps addresses valid.
  std::deque<std::vector<eph_string>> strings_;
  std::deque<std::vector<eph_value>> values_;
  std::deque<std::vector<const eph_graph*>> graph_lists_;
  std::deque<GraphView> subgraphs_;
  std::deque<eph_type> types_;
  std::deque<OpenShape> content_shapes_;

  mutable std::once_flag has_names_;
  mutable std::unordered_map<std::string_view, graph::ValueId> ids_by_name_;  // once has_names_
  mutable OnnxBytes onnx_;
};

}  // namespace ephost::bridge
