// A graph as ONNX bytes for plugins, with large constants inside or outside of them. The bytes of
// each choice are made once and kept.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::bridge {

// May be used by any number of threads.
class OnnxBytes {
 public:
  // `graph`, which belongs to `model`, as a ModelProto of its own. Its constants of `outside_bytes`
  // or more are external tensors with the location "eph:value/N" for the value N; none are if that
  // is 0. Constants of bodies, attributes and text are always inside. The bytes live as long as the
  // object. INVALID_GRAPH if the graph cannot be exported or the bytes would exceed 2 GiB.
  //
  // Thresholds between the same two sizes of constants share their bytes, so that there are at most
  // as many versions as there are different sizes.
  [[nodiscard]] Result<std::span<const std::byte>> get(const graph::Graph& graph,
                                                       const graph::Model& model,
                                                       uint64_t outside_bytes);

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::vector<std::byte>> by_threshold_;  // the smallest size outside; 0: none
};

}  // namespace ephost::bridge
