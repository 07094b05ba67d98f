// Wrappers for nodes of an opset that the model does not import (they came from functions that do):
// calls of functions with one node each, which import the other opset. The importer converts them
// back. For the exporter.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::onnx_io {

inline const std::string kWrapperDomain = "ephost.opset";

struct VersionWrapper {
  std::string name;
  const graph::Node* node = nullptr;  // one of its callers, which differ in attribute values only
};

class VersionWrappers {
 public:
  // Borrows the model.
  explicit VersionWrappers(const graph::Model& model);

  // The function that represents the node; null for nodes that are written unchanged.
  [[nodiscard]] const std::string* find(const graph::Node& node) const;
  [[nodiscard]] const std::vector<VersionWrapper>& all() const { return wrappers_; }

 private:
  void collect(const graph::Graph& graph, const std::set<std::string>& taken);

  std::vector<VersionWrapper> wrappers_;
  std::map<std::string, size_t> by_signature_;
  uint64_t next_ = 0;
};

// Functions cannot contain subgraphs that capture values around them. Returns NOT_IMPLEMENTED for a
// node of another opset with subgraphs, unless it has the same meaning in all opsets of ai.onnx.
[[nodiscard]] Status check_versions(const graph::Graph& graph);

}  // namespace ephost::onnx_io
