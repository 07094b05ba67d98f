// A context model and its files, encoded into temporary files, loaded back as a check, and
// published together. Used only by the writer.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ephost/status.h"
#include "host/base/files/file_version.h"
#include "host/context/metadata.h"
#include "host/context/write/payload_sink.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"
#include "host/onnx_io/export/export.h"

namespace ephost::context {

// A complete payload.
struct StagedPayload {
  PayloadSink sink;
  std::string file_name;      // empty: embedded
  std::string compatibility;  // its own text; empty: that of its source
};

class StagedOutput {
 public:
  // Both outlive the object; the sinks of binaries are flushed.
  StagedOutput(const WriteOptions& options, std::span<StagedPayload> payloads)
      : options_(options), payloads_(payloads) {}

  // Encodes the model with `metadata` and the checksum of the external initializers.
  [[nodiscard]] Status encode(graph::Model& model, ContextMetadata metadata);

  // Loads the encoded model as a session would, before it becomes visible to others.
  [[nodiscard]] Status load_back(std::span<const WrittenPartition> partitions) const;

  // Publishes models that share the payloads and are in the same folder, as one step.
  [[nodiscard]] static Result<std::vector<WrittenFile>> publish(std::span<StagedOutput> outputs);

  // The encoded model; only if it does not go to a file.
  [[nodiscard]] const graph::Blob& model_bytes() const { return model_bytes_; }

 private:
  Result<onnx_io::ExportOptions> make_export_options();
  Status open_originals(const std::map<std::string, std::filesystem::path>& originals,
                        ContextMetadata& metadata);
  Result<onnx_io::Placement> place(std::string_view name, const graph::Tensor& tensor);
  Status stage_initializers(const onnx_io::EncodedFile& external, ContextMetadata& metadata);
  Status stage_model(const onnx_io::EncodedFile& encoded);
  static Status check_may_replace_all(std::span<StagedOutput> outputs);
  Status write_payloads() const;
  Status write_model() const;

  const WriteOptions& options_;
  std::span<StagedPayload> payloads_;
  std::unordered_map<const graph::Tensor*, onnx_io::Placement> placements_;
  std::map<std::string, graph::Blob> originals_;                // content, by location
  std::map<std::filesystem::path, FileVersion> read_versions_;  // of external data of the source
  std::optional<PayloadSink> initializers_;
  std::optional<PayloadSink> model_file_;  // Destination::kFile
  graph::Blob model_bytes_;                // otherwise
};

// FAIL with the remedy.
[[nodiscard]] Status model_too_large(uint64_t bytes, uint64_t max);

}  // namespace ephost::context
