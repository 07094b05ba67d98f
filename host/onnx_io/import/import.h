// Import of ONNX files as graphs. Payloads (initializers, large strings) stay in the mapped file or
// in the caller's buffer, and the model borrows them: the cost of importing depends on the
// structure, not on the size of the weights, and a file may exceed protobuf's 2 GB. Files are
// untrusted: every failure is a Status that names the place, INVALID_PROTOBUF for bytes that are
// not an ONNX message and INVALID_GRAPH for a message that is not a valid graph.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/files/file.h"
#include "host/graph/graph.h"
#include "host/onnx_io/overrides/dimension_overrides.h"
#include "host/onnx_io/overrides/initializers.h"

namespace ephost::onnx_io {

// The configuration entry that sets ImportOptions::max_dense_bytes, for messages.
inline constexpr std::string_view kMaxDenseBytesKey = "session.sparse_initializers_max_bytes";

struct ImportOptions {
  // The folder to which external data is relative. If empty, the model file's folder; a model from
  // memory then cannot refer to files. Links in it may lead to where a hub's cache has the files
  // (host/base/files/containment/hub_cache.h).
  std::filesystem::path external_data_dir;
  // The content of external data files by the name that the model uses; takes precedence over
  // `external_data_dir`.
  std::map<std::string, graph::Blob> external_files;
  // Infer types that the model does not declare.
  bool infer_shapes = true;
  // Copy the data of initializers that is not aligned to its element size. Otherwise
  // `align_initializers` must do so before elements are read.
  bool align_initializers = true;
  // Limits the total size of all dense forms of sparse initializers; INVALID_GRAPH if it is
  // exceeded.
  uint64_t max_dense_bytes = uint64_t{1} << 30;
  // The sizes of dimensions that the model leaves open.
  DimensionOverrides dimension_overrides = {};
  // Take the place of the model's; their data is borrowed and shared as the Blobs say.
  GivenInitializers initializers = {};
  // The names of values, in any graph of the model, whose shapes were found to be wrong: inference
  // forgets them.
  std::set<std::string> open_shapes = {};
  // Returns CANCELLED or DEADLINE_EXCEEDED once cancellation is requested.
  Cancellation cancellation = {};
};

struct ImportReport {
  // Remarks, one sentence each: shape inference that failed, operators and opsets that the linked
  // onnx does not know.
  std::vector<std::string> notes;
  // One sentence for each override of a dimension, and each given initializer, that has no effect.
  std::vector<std::string> without_effect;
  // The given initializers that have taken the place of the model's.
  std::map<std::string, graph::Tensor> given_initializers;
  // The input as it lies in memory: the model's bytes, and the content of each file of external
  // data by the location that the model gives.
  graph::Blob model;
  std::map<std::string, graph::Blob> external_data;
  // The locations of which data was read, in files or buffers.
  std::set<std::string> read_external_data;
  // Those of them for which no tensor has a `checksum`; all others were verified.
  std::set<std::string> unchecked_external_data;
};

// The graph of the result is connected, in SSA form and topologically sorted (unsorted files are
// sorted), including subgraphs; `check_graph` accepts it. Types are as declared, or inferred where
// the model omits them. Initializers of models older than IR version 4 are constants even if they
// are listed among the graph inputs. INVALID_ARGUMENT for overrides of dimensions that contradict
// each other or the model, and for given initializers that do not fit it. The model shares
// ownership of the mapping. Calls are independent and may be concurrent.
[[nodiscard]] Result<graph::Model> import_model(const std::filesystem::path& path,
                                                const ImportOptions& options = {},
                                                ImportReport* report = nullptr);

// The same from an open file.
[[nodiscard]] Result<graph::Model> import_model(const std::shared_ptr<const MappedFile>& file,
                                                const ImportOptions& options = {},
                                                ImportReport* report = nullptr);

// The same from memory; the model borrows from `bytes` and shares `bytes.owner`. Without an owner,
// the bytes must outlive the model.
[[nodiscard]] Result<graph::Model> import_model(const graph::Blob& bytes,
                                                const ImportOptions& options = {},
                                                ImportReport* report = nullptr);

// Performs afterwards what `ImportOptions::align_initializers` enables. Memory of the model's file
// that is no longer needed is released.
void align_initializers(graph::Model& model);

}  // namespace ephost::onnx_io
