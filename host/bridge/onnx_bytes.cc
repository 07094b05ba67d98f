#include "host/bridge/onnx_bytes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/graph/clone.h"
#include "host/graph/connect.h"
#include "host/onnx_io/export/export.h"

namespace ephost::bridge {
namespace {

using graph::Graph;
using graph::ValueId;

// The bytes of a constant that can be outside; 0 for any other value.
uint64_t movable_bytes(const Graph& graph, const graph::Value& value) {
  return value.is_constant() ? graph.initializers[value.initializer].data.bytes.size() : 0;
}

// The size of the smallest constant that is outside; 0 if there is none.
uint64_t smallest_outside(const Graph& graph, uint64_t outside_bytes) {
  if (outside_bytes == 0) return 0;
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  for (const graph::Value& value : graph.values) {
    const uint64_t size = movable_bytes(graph, value);
    if (size >= outside_bytes) smallest = std::min(smallest, size);
  }
  return smallest == std::numeric_limits<uint64_t>::max() ? 0 : smallest;
}

// A stand-alone model has no enclosing graph: the values that a body captures become its inputs.
graph::Model standalone(const Graph& graph, const graph::Model& model) {
  graph::Model alone;
  alone.ir_version = model.ir_version;
  alone.opset_imports = model.opset_imports;
  alone.metadata = model.metadata;
  alone.symbols = model.symbols;
  alone.functions = model.functions;
  alone.graph = graph::clone(graph);
  for (ValueId id = 0; id < alone.graph.values.size(); ++id) {
    graph::Value& value = alone.graph.values[id];
    if (std::exchange(value.outer, graph::kNoValue) == graph::kNoValue) continue;
    alone.graph.inputs.push_back(id);
  }
  graph::connect(alone.graph);
  return alone;
}

}  // namespace

Result<std::span<const std::byte>> OnnxBytes::get(const Graph& graph, const graph::Model& model,
                                                  uint64_t outside_bytes) {
  const uint64_t threshold = smallest_outside(graph, outside_bytes);
  const std::lock_guard lock(mutex_);
  if (const auto known = by_threshold_.find(threshold); known != by_threshold_.end()) {
    return std::span<const std::byte>(known->second);
  }
  const graph::Model alone = standalone(graph, model);
  onnx_io::ExportOptions options;
  for (ValueId id = 0; threshold != 0 && id < alone.graph.values.size(); ++id) {
    const graph::Value& value = alone.graph.values[id];
    if (movable_bytes(alone.graph, value) < threshold) continue;
    options.outside.emplace(&alone.graph.initializers[value.initializer],
                            formatted("eph:value/{}", id));
  }
  const Result<onnx_io::ExportedModel> exported = onnx_io::export_model(alone, options);
  if (!exported.ok() && is_circumstance(exported.status())) return exported.status();
  if (!exported.ok()) return Status(StatusCode::kInvalidGraph, exported.status().message());
  return std::span<const std::byte>(
      by_threshold_.emplace(threshold, exported->model.to_bytes()).first->second);
}

}  // namespace ephost::bridge
