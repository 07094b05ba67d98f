// A context model and its files in temporary files: encoded, loaded back for a check, and published
// together. Used by the writer only.
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
#include "host/context/metadata.h"
#include "host/context/write/payload_sink.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"
#include "host/onnx_io/export/export.h"

namespace ephost::context {

// A payload as it was written.
struct StagedPayload {
  PayloadSink sink;
  std::string file_name;  // empty: embedded
};

class StagedOutput {
 public:
  // Both outlive the object; the sinks of binaries are flushed.
  StagedOutput(const WriteOptions& options, std::span<StagedPayload> payloads)
      : options_(options), payloads_(payloads) {}

  // Encodes the model with what `metadata` and the checksum of the external initializers state.
  [[nodiscard]] Status encode(graph::Model& model, ContextMetadata metadata);

  // Loads what was encoded as a session would, before anybody else can see it.
  [[nodiscard]] Status load_back(std::span<const WrittenPartition> partitions) const;

  // Publishes models that share the payloads, and lie in one folder, as one step.
  [[nodiscard]] static Result<std::vector<WrittenFile>> publish(std::span<StagedOutput> outputs);

  // The encoded model; only if it goes to no file.
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
  std::map<std::string, graph::Blob> originals_;  // content, by location
  std::optional<PayloadSink> initializers_;
  std::optional<PayloadSink> model_file_;  // Destination::kFile
  graph::Blob model_bytes_;                // otherwise
};

// FAIL with the remedy.
[[nodiscard]] Status model_too_large(uint64_t bytes, uint64_t most);

}  // namespace ephost::context
