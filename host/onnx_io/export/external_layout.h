// The position of each initializer in the external file of an exported model, and the content of
// that file. Pure arithmetic over the graph; for the exporter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>

#include "host/graph/graph.h"
#include "host/onnx_io/export/export.h"

namespace ephost::onnx_io {

struct ExternalRange {
  std::string location;
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct ExternalLayout {
  std::unordered_map<const graph::Tensor*, ExternalRange> ranges;
  std::map<std::string, std::filesystem::path> originals;  // by location
  EncodedFile file;                                        // empty if there is nothing to store

  // The position of the tensor's data; null if it is embedded.
  [[nodiscard]] const ExternalRange* find(const graph::Tensor& tensor) const;
};

// Lays out the initializers of the graph and its subgraphs in order; initializers with the same
// bytes in memory share a range. Errors as in export_model.
[[nodiscard]] Result<ExternalLayout> lay_out_initializers(const graph::Graph& graph,
                                                          const ExportOptions& options);

}  // namespace ephost::onnx_io
