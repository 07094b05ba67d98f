// ONNX files to graphs. Payloads (initializers, large strings) stay where they are, in the mapped
// file or in the caller's buffer, and the model borrows them: importing costs what the structure
// costs, whatever the weights weigh, and a file may exceed protobuf's 2 GB. Files are untrusted:
// every failure is a Status that names the place, INVALID_PROTOBUF for what is no ONNX message and
// INVALID_GRAPH for what makes no sense as a graph.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/base/files/file.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io {

// The configuration entry that sets ImportOptions::max_dense_bytes, for messages.
inline constexpr std::string_view kMaxDenseBytesKey = "session.sparse_initializers_max_bytes";

struct ImportOptions {
  // Folder that external data is relative to. Empty: the model file's folder; a model from memory
  // then cannot refer to files.
  std::filesystem::path external_data_dir;
  // Content of external data files by the name the model uses, looked up before
  // `external_data_dir`.
  std::map<std::string, graph::Blob> external_files;
  // Fill in types that the model doesn't state.
  bool infer_shapes = true;
  // Move the data of initializers that does not lie at a multiple of its element's size. Otherwise
  // `align_initializers` must do so before anybody reads elements.
  bool align_initializers = true;
  // All dense forms of sparse initializers together; INVALID_GRAPH where they need more.
  uint64_t max_dense_bytes = uint64_t{1} << 30;
  // MODEL_LOAD_CANCELED once it is requested.
  Cancellation cancellation = {};
};

struct ImportReport {
  // What went not quite as expected, one sentence each: shape inference that failed, operators and
  // opsets that the linked onnx doesn't know.
  std::vector<std::string> notes;
  // What was read, as it lies in memory: the model's bytes, and the content of each file of
  // external data by the location that the model states.
  graph::Blob model;
  std::map<std::string, graph::Blob> external_data;
  // Locations of it of which no tensor states a `checksum`; the others were compared with it.
  std::set<std::string> unchecked_external_data;
};

// The graph of the result is connected, in SSA form and topologically sorted (files that are not
// sorted are), subgraphs included; `check_graph` accepts it. Types are as declared, and as inferred
// where the model leaves them open. Initializers of models older than IR version 4 are constants
// even if they are listed among the graph inputs. The model shares ownership of the mapping.
// Repeating a call is harmless; calls may be concurrent.
[[nodiscard]] Result<graph::Model> import_model(const std::filesystem::path& path,
                                                const ImportOptions& options = {},
                                                ImportReport* report = nullptr);

// The same from a file that is open already.
[[nodiscard]] Result<graph::Model> import_model(const std::shared_ptr<const MappedFile>& file,
                                                const ImportOptions& options = {},
                                                ImportReport* report = nullptr);

// The same from memory; the model borrows from `bytes` and shares `bytes.owner`. With no owner the
// bytes must outlive the model.
[[nodiscard]] Result<graph::Model> import_model(const graph::Blob& bytes,
                                                const ImportOptions& options = {},
                                                ImportReport* report = nullptr);

// What `ImportOptions::align_initializers` says, afterwards. Memory of the model's file that is no
// longer needed is given back.
void align_initializers(graph::Model& model);

}  // namespace ephost::onnx_io
