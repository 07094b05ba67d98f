// The rewrite of a model in memory to a context model: partitions, also those in nested graphs,
// become EPContext nodes, and values that only they used are removed. Pure; used only by the
// writer.
#pragma once

#include <span>
#include <string>

#include "ephost/status.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"

namespace ephost::context {

// What the nodes state about a payload.
struct PayloadPlacement {
  bool embedded = false;
  graph::Blob bytes;      // embedded
  std::string file_name;  // otherwise
};

// The first partition of each payload becomes its primary node; the others refer to that by its
// partition_name. INVALID_ARGUMENT for an index that is out of range, INVALID_GRAPH for a partition
// that is not convex. After a failure `model` must not be used.
[[nodiscard]] Status replace_partitions(graph::Model& model,
                                        std::span<const WrittenPartition> partitions,
                                        std::span<const PayloadPlacement> payloads,
                                        const std::string& onnx_model_filename);

}  // namespace ephost::context
