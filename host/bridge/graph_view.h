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
#include <vector>

#include "host/graph/graph.h"

namespace ephost::bridge {

// An eph_value for a constant tensor. String tensors need `strings`, with one eph_string for each
// element, which the caller keeps alive.
[[nodiscard]] eph_value constant_value(const graph::Tensor& tensor,
                                       std::span<const eph_string> strings);

// Borrows the graph, the symbols and the opsets, which must neither move nor change meanwhile. All
// functions may be called concurrently.
class GraphView : public eph_graph {
 public:
  // `owner`, if not empty, has one entry for each node: any value but partition::kUnassigned marks
  // the node as taken. It is read at each call.
  GraphView(const graph::Graph& graph, const graph::Model& model,
            std::span<const uint32_t> owner = {});
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;

  [[nodiscard]] const graph::Graph& graph() const { return graph_; }

 private:
  static const GraphView& self(const eph_graph* handle) {
    return *static_cast<const GraphView*>(handle);
  }
  static int32_t get_graph(const eph_graph* handle, eph_graph_info* out) noexcept;
  static int32_t get_node(const eph_graph* handle, uint32_t node, eph_node_info* out) noexcept;
  static int32_t get_value(const eph_graph* handle, uint32_t value, eph_value_info* out) noexcept;
  static int64_t get_opset(const eph_graph* handle, eph_string domain) noexcept;
  static int32_t get_onnx(const eph_graph* handle, eph_bytes* out, eph_error* error) noexcept;
  static const eph_graph_api kApi;

  void convert_attributes(const graph::Node& node);
  void convert_shape(graph::ValueId value, const graph::Shape& shape);
  std::span<const eph_string> convert_strings(std::span<const std::string> strings);
  const eph_value* convert_tensors(std::span<const graph::Tensor> tensors);
  const eph_value* convert_sparse(std::span<const graph::SparseTensor> tensors);
  const void* convert_graphs(std::span<const std::unique_ptr<graph::Graph>> graphs);
  [[nodiscard]] Status serialize() const;

  struct OpenShape {
    std::vector<int64_t> extents;
    std::vector<eph_string> names;  // empty where no dimension has a symbol
  };

  const graph::Graph& graph_;
  const graph::Model& model_;
  std::span<const uint32_t> owner_;
  std::vector<eph_value> constants_;  // by initializer
  std::map<graph::ValueId, OpenShape> open_shapes_;
  std::vector<eph_attribute> attributes_;  // of all nodes, in their order
  std::vector<uint64_t> attribute_begin_;  // by node, with one more entry at the end
  // What converted attributes and constants point to; a deque keeps addresses valid.
  std::deque<std::vector<eph_string>> strings_;
  std::deque<std::vector<eph_value>> values_;
  std::deque<std::vector<const eph_graph*>> graph_lists_;
  std::deque<GraphView> subgraphs_;

  mutable std::mutex onnx_mutex_;
  mutable std::vector<std::byte> onnx_;  // serialised at the first call
};

}  // namespace ephost::bridge
