#include "host/context/write/staged_output.h"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"
#include "host/context/read/loader.h"
#include "host/context/write/output_files.h"
#include "host/context/write/publication.h"
#include "host/onnx_io/import/import.h"

namespace ephost::context {
namespace {

Status append_parts(PayloadSink& sink, const onnx_io::EncodedFile& file,
                    const Cancellation& cancellation) {
  for (const graph::Blob& part : file.parts) {
    EPHOST_RETURN_IF_ERROR(sink.append(part.bytes, cancellation));
  }
  return sink.flush();
}

// Whether the partitions that were read back are those that were written, each with its payload.
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
        found.bytes.bytes.size() != expected.sink.checksum().size ||
        partition.constants.size() != written->second->constants.size()) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status model_too_large(uint64_t bytes, uint64_t max) {
  return Status(
      StatusCode::kFail,
      formatted("the context model would have {} bytes or more, but one model can hold at most {}; "
                "write payloads to files (ep.context_embed_mode 0) and initializers to a "
                "file (ep.context_model_external_initializers_file_name)",
                bytes, max));
}

Status StagedOutput::encode(graph::Model& model, ContextMetadata metadata) {
  EPHOST_ASSIGN_OR_RETURN(const onnx_io::ExportOptions export_options, make_export_options());
  // The model has the checksums of the files of initializers, so these are encoded first.
  if (!export_options.external_file_name.empty() || options_.place_initializer) {
    EPHOST_ASSIGN_OR_RETURN(const onnx_io::ExportedModel exported,
                            onnx_io::export_model(model, export_options));
    EPHOST_RETURN_IF_ERROR(open_originals(exported.originals, metadata));
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

Result<onnx_io::ExportOptions> StagedOutput::make_export_options() {
  onnx_io::ExportOptions export_options{
      .external_file_name = options_.external_initializers_file_name,
      .placement = [this](std::string_view name,
                          const graph::Tensor& tensor) { return place(name, tensor); },
      .marks_inferred_types = true,
      .large_alignment = options_.initializer_alignment};
  if (options_.destination != Destination::kFile) return export_options;
  std::error_code error;
  export_options.folder = std::filesystem::canonical(folder_of(options_.output_path), error);
  if (error) return file_error("resolve the folder of", options_.output_path, error.value());
  return export_options;
}

// The model may be encoded twice, but the caller is asked only once about each initializer.
Result<onnx_io::Placement> StagedOutput::place(std::string_view name, const graph::Tensor& tensor) {
  const auto known = placements_.find(&tensor);
  if (known != placements_.end()) return known->second;
  const bool is_external = !options_.external_initializers_file_name.empty() &&
                           tensor.data.bytes.size() >= options_.initializer_size_threshold;
  onnx_io::Placement placement =
      is_external ? onnx_io::Placement::kExternal : onnx_io::Placement::kEmbedded;
  if (options_.place_initializer) {
    EPHOST_ASSIGN_OR_RETURN(placement, options_.place_initializer(name, tensor));
  }
  placements_.emplace(&tensor, placement);
  const std::optional<MappedRange> read = find_mapped_range(tensor.data.bytes);
  if (tensor.external != nullptr && read) read_versions_.emplace(tensor.external->path, read->file);
  return placement;
}

// Maps the files of the source model in which initializers stay, and adds their checksums.
Status StagedOutput::open_originals(const std::map<std::string, std::filesystem::path>& originals,
                                    ContextMetadata& metadata) {
  for (const auto& [location, path] : originals) {
    EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, *options_.file_system));
    const auto owner = std::make_shared<const MappedFile>(std::move(file));
    const std::optional<OpenedFile> now = find_mapped_file(owner->bytes());
    const auto read = read_versions_.find(path);
    if (now && read != read_versions_.end() && !now->version.is_same(read->second)) {
      return changed_meanwhile(path);
    }
    originals_.emplace(location, graph::Blob{owner->bytes(), owner});
    metadata.originals[location] = {.hash = content_checksum(owner->bytes()),
                                    .size = owner->bytes().size()};
  }
  return {};
}

Status StagedOutput::stage_initializers(const onnx_io::EncodedFile& external,
                                        ContextMetadata& metadata) {
  const std::string& name = options_.external_initializers_file_name;
  EPHOST_ASSIGN_OR_RETURN(
      initializers_,
      PayloadSink::to_file(folder_of(options_.output_path) / name, *options_.file_system));
  EPHOST_RETURN_IF_ERROR(append_parts(*initializers_, external, options_.cancellation));
  metadata.initializers[name] = initializers_->checksum();
  return {};
}

Status StagedOutput::stage_model(const onnx_io::EncodedFile& encoded) {
  if (options_.destination != Destination::kFile) {
    model_bytes_ = graph::make_blob(encoded.to_bytes());
    return {};
  }
  EPHOST_ASSIGN_OR_RETURN(model_file_,
                          PayloadSink::to_file(options_.output_path, *options_.file_system));
  return append_parts(*model_file_, encoded, options_.cancellation);
}

Status StagedOutput::load_back(std::span<const WrittenPartition> partitions) const {
  onnx_io::ImportOptions import_options{.infer_shapes = false,
                                        .cancellation = options_.cancellation};
  LoadOptions load_options{.release_pages = true,
                           .file_system = options_.file_system,
                           .cancellation = options_.cancellation};
  if (initializers_) {
    EPHOST_ASSIGN_OR_RETURN(graph::Blob content, initializers_->map(*options_.file_system));
    import_options.external_files.emplace(options_.external_initializers_file_name, content);
  }
  import_options.external_files.insert(originals_.begin(), originals_.end());
  load_options.files = import_options.external_files;
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
  return Status(StatusCode::kFail, "it reads back with partitions other than those written");
}

Status StagedOutput::write_payloads() const {
  if (options_.embed || !options_.write_payload) return {};
  for (const StagedPayload& payload : payloads_) {
    EPHOST_ASSIGN_OR_RETURN(const graph::Blob content, payload.sink.map(*options_.file_system));
    EPHOST_RETURN_IF_ERROR(options_.write_payload(payload.file_name, content.bytes));
  }
  return {};
}

Status StagedOutput::write_model() const {
  if (options_.destination != Destination::kFunction) return {};
  for (std::span<const std::byte> rest = model_bytes_.bytes; !rest.empty();) {
    const size_t piece = std::min(rest.size(), kModelPieceBytes);
    EPHOST_RETURN_IF_ERROR(options_.write_model(rest.first(piece)));
    rest = rest.subspan(piece);
  }
  return {};
}

Status StagedOutput::check_may_replace_all(std::span<StagedOutput> outputs) {
  std::vector<std::filesystem::path> models;
  for (const StagedOutput& output : outputs) {
    EPHOST_RETURN_IF_ERROR(check_may_replace(output.options_));
    models.push_back(output.options_.output_path);
  }
  const StagedOutput& first = outputs.front();
  for (const StagedPayload& payload : first.payloads_) {
    if (payload.file_name.empty() || first.options_.write_payload) continue;
    EPHOST_RETURN_IF_ERROR(
        check_may_replace_file(first.options_, models, payload.file_name, payload.sink.checksum()));
  }
  for (const StagedOutput& output : outputs) {
    if (!output.initializers_) continue;
    EPHOST_RETURN_IF_ERROR(check_may_replace_file(output.options_, models,
                                                  output.options_.external_initializers_file_name,
                                                  output.initializers_->checksum()));
  }
  return {};
}

Result<std::vector<WrittenFile>> StagedOutput::publish(std::span<StagedOutput> outputs) {
  std::vector<WrittenFile> files;
  const StagedOutput& first = outputs.front();
  EPHOST_RETURN_IF_ERROR(first.write_payloads());
  if (!writes_files(first.options_)) {
    EPHOST_RETURN_IF_ERROR(first.write_model());
    return files;
  }
  EPHOST_ASSIGN_OR_RETURN(
      Publication publication,
      Publication::begin(folder_of(first.options_.output_path), first.options_.lock_wait,
                         *first.options_.file_system));
  // Another process may have written an output since the first check.
  EPHOST_RETURN_IF_ERROR(check_may_replace_all(outputs));
  const auto put = [&](PayloadSink& sink) {
    files.push_back({.path = sink.file().path(), .checksum = sink.checksum()});
    return publication.publish(sink.file(), sink.checksum());
  };
  for (StagedPayload& payload : first.payloads_) {
    const bool is_file = !payload.file_name.empty() && !first.options_.write_payload;
    if (is_file) EPHOST_RETURN_IF_ERROR(put(payload.sink));
  }
  for (StagedOutput& output : outputs) {
    if (output.initializers_) EPHOST_RETURN_IF_ERROR(put(*output.initializers_));
  }
  for (StagedOutput& output : outputs.first(outputs.size() - 1)) {
    EPHOST_RETURN_IF_ERROR(put(*output.model_file_));
  }
  if (!outputs.back().model_file_) {
    EPHOST_RETURN_IF_ERROR(first.write_model());
    publication.finish();
    return files;
  }
  PayloadSink& last = *outputs.back().model_file_;
  files.push_back({.path = last.file().path(), .checksum = last.checksum()});
  EPHOST_RETURN_IF_ERROR(publication.publish_last(last.file()));
  return files;
}

}  // namespace ephost::context
