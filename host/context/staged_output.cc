#include "host/context/staged_output.h"

#include <map>
#include <string_view>
#include <utility>

#include "host/context/loader.h"
#include "host/context/output_files.h"
#include "host/context/publication.h"
#include "host/onnx_io/import.h"

namespace ephost::context {
namespace {

Status append_parts(PayloadSink& sink, const onnx_io::EncodedFile& file) {
  for (const graph::Blob& part : file.parts) EPHOST_RETURN_IF_ERROR(sink.append(part.bytes));
  return sink.flush();
}

// Whether the partitions that were read are the ones that were written, each with its payload.
bool is_same(const LoadedContext& loaded, std::span<const WrittenPartition> partitions,
             std::span<const StagedPayload> payloads) {
  if (loaded.partitions.size() != partitions.size()) return false;
  std::map<std::string_view, const WrittenPartition*> by_name;
  for (const WrittenPartition& partition : partitions) by_name[partition.name] = &partition;
  for (const CachedPartition& partition : loaded.partitions) {
    const auto written = by_name.find(partition.attributes.partition_name);
    if (written == by_name.end()) return false;
    const StagedPayload& expected = payloads[written->second->payload];
    const CachedPayload& found = loaded.payloads[partition.payload];
    if (found.file_name != expected.file_name || found.source != written->second->source ||
        found.bytes.bytes.size() != expected.sink.sum().size) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status model_too_large(uint64_t bytes, uint64_t most) {
  return Status(StatusCode::kFail,
                "the context model would have " + std::to_string(bytes) +
                    " bytes or more, but one model can hold at most " + std::to_string(most) +
                    "; write payloads to files (ep.context_embed_mode 0) and initializers to a "
                    "file (ep.context_model_external_initializers_file_name)");
}

Status StagedOutput::encode(graph::Model& model, ContextMetadata metadata) {
  const onnx_io::ExportOptions export_options{.external_file_name =
                                                  options_.external_initializers_file_name};
  // The model states the sum of the external initializers, so they are encoded first.
  if (!export_options.external_file_name.empty()) {
    EPHOST_ASSIGN_OR_RETURN(const onnx_io::ExportedModel exported,
                            onnx_io::export_model(model, export_options));
    if (exported.external) {
      EPHOST_RETURN_IF_ERROR(stage_initializers(*exported.external, metadata));
    }
  }
  write_metadata(metadata, model.metadata);
  EPHOST_ASSIGN_OR_RETURN(const onnx_io::ExportedModel exported,
                          onnx_io::export_model(model, export_options));
  if (exported.model.size > options_.max_model_bytes) {
    return model_too_large(exported.model.size, options_.max_model_bytes);
  }
  return stage_model(exported.model);
}

Status StagedOutput::stage_initializers(const onnx_io::EncodedFile& external,
                                        ContextMetadata& metadata) {
  const std::string& name = options_.external_initializers_file_name;
  EPHOST_ASSIGN_OR_RETURN(
      initializers_,
      PayloadSink::to_file(folder_of(options_.output_path) / name, *options_.file_system));
  EPHOST_RETURN_IF_ERROR(append_parts(*initializers_, external));
  metadata.initializers[name] = initializers_->sum();
  return check_initializers_file(options_, initializers_->sum());
}

Status StagedOutput::stage_model(const onnx_io::EncodedFile& encoded) {
  if (options_.destination == Destination::kMemory) {
    model_bytes_ = graph::make_blob(encoded.to_bytes());
    return {};
  }
  EPHOST_ASSIGN_OR_RETURN(model_file_,
                          PayloadSink::to_file(options_.output_path, *options_.file_system));
  return append_parts(*model_file_, encoded);
}

Status StagedOutput::load_back(std::span<const WrittenPartition> partitions) const {
  onnx_io::ImportOptions import_options{.infer_shapes = false};
  LoadOptions load_options{.file_system = options_.file_system};
  if (initializers_) {
    EPHOST_ASSIGN_OR_RETURN(graph::Blob content, initializers_->map(*options_.file_system));
    import_options.external_files.emplace(options_.external_initializers_file_name, content);
    load_options.files = import_options.external_files;
  }
  for (const StagedPayload& payload : payloads_) {
    if (payload.file_name.empty()) continue;
    EPHOST_ASSIGN_OR_RETURN(graph::Blob content, payload.sink.map(*options_.file_system));
    load_options.files.emplace(payload.file_name, std::move(content));
  }
  graph::Blob encoded = model_bytes_;
  if (model_file_) {
    EPHOST_ASSIGN_OR_RETURN(encoded, model_file_->map(*options_.file_system));
  }
  EPHOST_ASSIGN_OR_RETURN(const graph::Model written,
                          onnx_io::import_model(encoded, import_options));
  EPHOST_ASSIGN_OR_RETURN(const LoadedContext loaded, load_context(written, load_options));
  if (is_same(loaded, partitions, payloads_)) return {};
  return Status(StatusCode::kFail, "it reads back with other partitions than were written");
}

Result<std::vector<WrittenFile>> StagedOutput::publish(std::span<StagedOutput> outputs) {
  std::vector<WrittenFile> files;
  const StagedOutput& first = outputs.front();
  if (!writes_files(first.options_)) return files;
  EPHOST_ASSIGN_OR_RETURN(
      Publication publication,
      Publication::begin(folder_of(first.options_.output_path), *first.options_.file_system));
  // Somebody may have written an output since it was checked first.
  for (const StagedOutput& output : outputs) {
    EPHOST_RETURN_IF_ERROR(check_may_replace(output.options_));
  }
  const auto put = [&](PayloadSink& sink) {
    files.push_back({.path = sink.file().path(), .sum = sink.sum()});
    return publication.publish(sink.file(), sink.sum());
  };
  for (StagedPayload& payload : first.payloads_) {
    if (!payload.file_name.empty()) EPHOST_RETURN_IF_ERROR(put(payload.sink));
  }
  for (StagedOutput& output : outputs) {
    if (output.initializers_) EPHOST_RETURN_IF_ERROR(put(*output.initializers_));
  }
  for (StagedOutput& output : outputs.first(outputs.size() - 1)) {
    EPHOST_RETURN_IF_ERROR(put(*output.model_file_));
  }
  if (!outputs.back().model_file_) {
    publication.finish();
    return files;
  }
  PayloadSink& last = *outputs.back().model_file_;
  files.push_back({.path = last.file().path(), .sum = last.sum()});
  EPHOST_RETURN_IF_ERROR(publication.publish_last(last.file()));
  return files;
}

}  // namespace ephost::context
