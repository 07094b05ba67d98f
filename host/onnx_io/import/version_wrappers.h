// How a model states nodes of an opset that it does not import (they came from functions that do):
// as calls of functions with one node each, which import the other opset. The importer makes the
// nodes of them again. For the exporter.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io {

inline const std::string kWrapperDomain = "ephost.opset";

struct VersionWrapper {
  std::string name;
  const graph::Node* node = nullptr;  // one of those that call it; they differ in values only
};

class VersionWrappers {
 public:
  // Borrows the model.
  explicit VersionWrappers(const graph::Model& model);

  // The function that stands for the node; null for nodes that are written as they are.
  [[nodiscard]] const std::string* find(const graph::Node& node) const;
  [[nodiscard]] const std::vector<VersionWrapper>& all() const { return wrappers_; }

 private:
  void collect(const graph::Graph& graph, const std::set<std::string>& taken);

  std::vector<VersionWrapper> wrappers_;
  std::map<std::string, size_t> by_signature_;
  uint64_t next_ = 0;
};

// A function cannot hold subgraphs that read what is around them. NOT_IMPLEMENTED for a node of
// another opset that has subgraphs, unless all opsets of ONNX mean the same by it.
[[nodiscard]] Status check_versions(const graph::Graph& graph);

}  // namespace ephost::onnx_io
