// Graphs to ONNX files, without a second copy of the weights: the encoded model is a list of parts,
// small ones that hold messages and borrowed ones that are the initializers' own bytes. The same
// model and options give the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io {

// Where the data of an initializer goes.
enum class Placement {
  kEmbedded,
  kExternal,  // to the external file
  kOriginal,  // nowhere: the model refers to the file of Tensor::external, which must be there
};

struct ExportOptions {
  // File name for the data of initializers, relative to the model's folder; empty: there is no such
  // file.
  std::string external_file_name;
  // Decides for one initializer; asked once for each in the order of the graph, subgraphs after
  // their graph's own. Its failure is export_model's. Empty: all are external if there is a name,
  // else embedded. String tensors, tensors without elements and attributes are always embedded.
  std::function<Result<Placement>(std::string_view name, const graph::Tensor& tensor)> placement;
  // The canonical folder that the model goes to: files that stay where they are must lie below it.
  // Empty: nobody knows, and the model refers to them as it did before.
  std::filesystem::path folder;
  // Where external data starts: at a multiple of `large_alignment`, so that it can be mapped on its
  // own, if it has `large_size` bytes or more; at a multiple of `small_alignment` otherwise.
  uint64_t large_size = uint64_t{1} << 20;
  uint64_t large_alignment = 4096;
  uint64_t small_alignment = 64;
};

// An encoded file: the concatenation of `parts`.
struct EncodedFile {
  std::vector<graph::Blob> parts;
  uint64_t size = 0;

  [[nodiscard]] std::vector<std::byte> to_bytes() const;
  // Atomically (host/base AtomicFile); errors as there.
  [[nodiscard]] Status write(const std::filesystem::path& path) const;
};

struct ExportedModel {
  EncodedFile model;
  std::string external_file_name;       // as given
  std::optional<EncodedFile> external;  // if `external_file_name` was given and there is such data
  // Files that the model refers to because of Placement::kOriginal, by location.
  std::map<std::string, std::filesystem::path> originals;

  // Writes the external file beside `path` first, then the model: a reader that finds the new model
  // finds its data.
  [[nodiscard]] Status write(const std::filesystem::path& path) const;
};

// Encodes `model`, whose graph must pass `check_graph`. The parts borrow from the model's blobs and
// share their ownership. FAIL if the model without its external data exceeds what protobuf can hold
// (2 GiB - 1); NOT_IMPLEMENTED if a node with subgraphs is of another opset and means something
// else in the model's; INVALID_ARGUMENT if the external file's name is no plain relative path, or a
// placement is not possible.
[[nodiscard]] Result<ExportedModel> export_model(const graph::Model& model,
                                                 const ExportOptions& options = {});

}  // namespace ephost::onnx_io
