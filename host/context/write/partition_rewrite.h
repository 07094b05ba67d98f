// Turns a model into a context model in memory: partitions become EPContext nodes, in nested graphs
// too, and what only they used goes. Pure; used by the writer only.
#pragma once

#include <span>
#include <string>

#include "ephost/status.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"

namespace ephost::context {

// What the nodes of a payload state.
struct PayloadPlacement {
  bool embedded = false;
  graph::Blob bytes;      // embedded
  std::string file_name;  // otherwise
};

// The first partition of each payload becomes its primary node, the others refer to it by its
// partition_name. INVALID_ARGUMENT for numbers that are out of range, INVALID_GRAPH for a partition
// that is not convex; the model is lost then.
[[nodiscard]] Status replace_partitions(graph::Model& model,
                                        std::span<const WrittenPartition> partitions,
                                        std::span<const PayloadPlacement> payloads,
                                        const std::string& onnx_model_filename);

}  // namespace ephost::context
