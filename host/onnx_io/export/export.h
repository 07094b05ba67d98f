// Export of graphs as ONNX files without copying the weights: the encoded model is a list of parts,
// small ones with messages and borrowed ones that are the initializers' own bytes. The same model
// and options yield the same bytes.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::onnx_io {

// Where the data of an initializer is written.
enum class Placement {
  kEmbedded,
  kExternal,  // to the external file
  kOriginal,  // not written: the model refers to the existing file of Tensor::external
};

struct ExportOptions {
  // The file name for the data of initializers, relative to the model's folder. Empty: there is no
  // external file.
  std::string external_file_name;
  // Decides the placement of one initializer; called once for each in the order of the graph,
  // subgraphs after their graph's own. export_model returns its failure. If empty, all initializers
  // are external if there is a file name, else embedded. String tensors, empty tensors and
  // attributes are always embedded.
  std::function<Result<Placement>(std::string_view name, const graph::Tensor& tensor)> placement;
  // Initializers whose data the model only refers to, by a location that means something to its
  // reader. `placement` is not asked about them. String tensors and empty tensors are embedded
  // nevertheless.
  std::unordered_map<const graph::Tensor*, std::string> outside;
  // Marks the types of values that the model does not declare itself (graph::Value::declared), so
  // that the importer tells them apart again.
  bool marks_inferred_types = false;
  // The canonical folder to which the model is written; files that stay in place must lie below it.
  // If empty, the folder is unknown, and the model keeps its previous references to them.
  std::filesystem::path folder;
  // The alignment of external data: data of at least `large_size` bytes starts at a multiple of
  // `large_alignment`, so that it can be mapped separately, other data at a multiple of
  // `small_alignment`.
  uint64_t large_size = uint64_t{1} << 20;
  uint64_t large_alignment = 4096;
  uint64_t small_alignment = 64;
};

// An encoded file: the concatenation of `parts`.
struct EncodedFile {
  std::vector<graph::Blob> parts;
  uint64_t size = 0;

  [[nodiscard]] std::vector<std::byte> to_bytes() const;
  // Writes the file atomically (AtomicFile of host/base), with the same errors.
  [[nodiscard]] Status write(const std::filesystem::path& path) const;
};

struct ExportedModel {
  EncodedFile model;
  std::string external_file_name;       // as given in the options
  std::optional<EncodedFile> external;  // if a name was given and there is external data
  // The files that the model refers to because of Placement::kOriginal, by location.
  std::map<std::string, std::filesystem::path> originals;

  // Writes the external file beside `path` first, then the model, so that a reader that finds the
  // new model also finds its data. An old model is removed in between, once both are complete under
  // temporary names: it must not be found with the new data.
  [[nodiscard]] Status write(const std::filesystem::path& path) const;
};

// Encodes `model`, whose graph must pass `check_graph`. The parts borrow from the model's blobs and
// share their ownership. Returns FAIL if the model without its external data exceeds the protobuf
// limit (2 GiB - 1); NOT_IMPLEMENTED if a node with subgraphs is from another opset in which it has
// a different meaning; INVALID_ARGUMENT if the external file's name is not a plain relative path,
// or if a placement is not possible.
[[nodiscard]] Result<ExportedModel> export_model(const graph::Model& model,
                                                 const ExportOptions& options = {});

}  // namespace ephost::onnx_io
