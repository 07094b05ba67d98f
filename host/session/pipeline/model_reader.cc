#include "host/session/pipeline/model_reader.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/metadata.h"
#include "host/context/named_constants.h"
#include "host/context/read/replacement_watch.h"
#include "host/onnx_io/import/plugin_operator_nodes.h"
#include "host/onnx_io/inference/infer.h"
#include "host/session/contexts/group_seat.h"
#include "host/session/model/given_initializers.h"
#include "host/session/model/model_files.h"
#include "host/session/model/model_signature.h"
#include "host/session/pipeline/compilation.h"

namespace ephost::session {

namespace {

ModelMetadata metadata_of(const graph::Model& model) {
  ModelMetadata metadata{.producer_name = model.producer_name,
                         .graph_name = model.graph.name,
                         .domain = model.domain,
                         .description = model.doc,
                         .graph_description = model.graph.doc,
                         .version = model.model_version,
                         .custom_metadata_map = model.metadata};
  context::write_metadata({}, metadata.custom_metadata_map);  // removes that of the context cache
  return metadata;
}

}  // namespace

ModelReader::ModelReader(const GivenOptions& options, const SessionConfig& config,
                         bool defers_inference, bool warns)
    : options_(options),
      config_(config),
      defers_inference_(defers_inference),
      warns_(warns),
      external_initializers_folder_(config.external_initializers_folder) {}

Status ModelReader::import(ModelSource& source, PreparedModel& prepared) {
  if (!source.bytes && source.file == nullptr) {
    EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(source.path));
    source.file = std::make_shared<const MappedFile>(std::move(file));
  }
  set_load_options(source, prepared);
  // Another process may be replacing the model right now, or may have died while doing so.
  load_options_.files = context::find_superseded_initializers(
      source.bytes ? *source.bytes : source.file->bytes(), load_options_);
  EPHOST_ASSIGN_OR_RETURN(const onnx_io::ImportOptions import_options,
                          make_options(source, prepared));
  auto model = source.bytes ? onnx_io::import_model(lent_blob(*source.bytes, "in the model"),
                                                    import_options, &report_)
                            : onnx_io::import_model(source.file, import_options, &report_);
  EPHOST_ASSIGN_OR_RETURN(prepared.model, std::move(model));
  warn_about_options();
  prepared.metadata = metadata_of(prepared.model);
  context::keep_named_constants(prepared.model.graph);
  // Checksums are compared on these bytes, even if the files have been replaced by then.
  load_options_.files = report_.external_data;
  load_options_.unchecked_external_data = report_.unchecked_external_data;
  prepared.notes = report_.notes;
  return add_model_files(source, prepared.model, report_, load_options_, prepared.files);
}

// A context model of the cache store was made with the dimensions and files that are given, and has
// those of the given initializers that were not compiled or folded.
Result<onnx_io::ImportOptions> ModelReader::make_options(const ModelSource& source,
                                                         const PreparedModel& prepared) const {
  onnx_io::ImportOptions options;
  options.external_data_dir = external_initializers_folder_;
  EPHOST_ASSIGN_OR_RETURN(options.initializers, given_initializers(options_));
  if (is_replacement_) {
    for (auto& [name, given] : options.initializers) given.replaces_external = false;
  } else {
    options.external_files = given_files(options_);
    options.dimension_overrides = config_.dimension_overrides;
  }
  options.external_files.insert(source.external_data.begin(), source.external_data.end());
  options.external_files.insert(load_options_.files.begin(), load_options_.files.end());
  options.infer_shapes = !defers_inference_;
  options.align_initializers = !defers_inference_;
  options.max_dense_bytes = config_.max_dense_bytes;
  options.cancellation = prepared.cancellation;
  options.open_shapes = prepared.open_shapes;
  return options;
}

void ModelReader::warn_about_options() const {
  if (is_replacement_ || !warns_) return;
  for (const std::string& warning : report_.without_effect) log_warning(warning);
  for (const std::string& warning : describe_unread_files(options_, report_.read_external_data)) {
    log_warning(warning);
  }
}

void ModelReader::set_load_options(const ModelSource& source, const PreparedModel& prepared) {
  load_options_.cancellation = prepared.cancellation;
  load_options_.known_checksums = KnownChecksums(config_.known_checksums_dir);
  load_options_.require_checksums = config_.require_checksums;
  if (!source.bytes) {
    load_options_.folder = source.path.parent_path();
  } else if (!config_.context_file_path.empty()) {
    load_options_.folder = config_.context_file_path.parent_path();
  }
  if (!external_initializers_folder_.empty()) {
    load_options_.initializers_folder = external_initializers_folder_;
  }
  if (const EpContextDataReadFunction& read = options_.read_context_data) {
    load_options_.read_payload = [&read](const std::string& name) -> Result<graph::Blob> {
      EPHOST_ASSIGN_OR_RETURN(EpContextData data, read(name));
      return graph::Blob{data.bytes, std::move(data.owner)};
    };
  }
}

Status ModelReader::replace(ModelSource& source, PreparedModel& prepared) {
  external_initializers_folder_.clear();
  is_replacement_ = true;
  load_options_ = {};
  ModelMetadata metadata = std::move(prepared.metadata);
  EPHOST_RETURN_IF_ERROR(import(source, prepared));
  prepared.metadata = std::move(metadata);
  load_options_.read_payload = nullptr;  // only knows payloads of the application's own models
  load_options_.require_checksums = true;
  return Status::ok_status();
}

Status ModelReader::check_signature(const ModelSource& source, const PreparedModel& prepared,
                                    const trust::Verifier& verifier, SignaturePolicy policy) {
  // A signature may be beside the file that a model in memory stands for.
  const std::filesystem::path& file = source.bytes ? config_.context_file_path : source.path;
  return check_model_signature(verifier, policy, file,
                               source.bytes ? *source.bytes : source.file->bytes(), prepared.model,
                               load_options_, source.signed_description);
}

Status ModelReader::complete_import(PreparedModel& prepared) const {
  // What was inferred without the operators of plugins lacks what follows from them.
  if (!defers_inference_ && prepared.operators == nullptr) return {};
  if (defers_inference_) onnx_io::align_initializers(prepared.model);
  return infer_shapes(prepared);
}

Status ModelReader::load_context(PreparedModel& prepared, GroupSeat* seat, bool defers_checksums) {
  for (const auto& provider : prepared.providers) {
    const manifest::Manifest& manifest = provider->plugin().manifest;
    if (!defers_checksums || !manifest.validates_contexts) continue;
    load_options_.validating_sources.insert(manifest.context_sources.begin(),
                                            manifest.context_sources.end());
  }
  if (seat != nullptr) {
    load_options_.files.merge(seat->waiting_files(prepared.model, load_options_.folder));
  }
  EPHOST_ASSIGN_OR_RETURN(prepared.context, context::load_context(prepared.model, load_options_));
  if (const std::vector<std::string>& unchecked = prepared.context.unchecked; !unchecked.empty()) {
    log_warning("the context model has no checksum for " + join(unchecked, ", ") +
                ", so damage there goes unnoticed (ep.require_checksums=1 makes this an error)");
  }
  EPHOST_RETURN_IF_ERROR(check_compatibility(prepared, config_.fail_on_suboptimal_context));
  return seat != nullptr ? seat->take(prepared, load_options_.folder) : Status::ok_status();
}

Status infer_shapes(PreparedModel& prepared) {
  // There may be one for each node.
  std::set<std::string> known(prepared.notes.begin(), prepared.notes.end());
  const auto add_notes = [&](std::vector<std::string> notes) {
    for (std::string& note : notes) {
      if (known.insert(note).second) prepared.notes.push_back(std::move(note));
    }
  };
  if (prepared.operators == nullptr) {
    add_notes(onnx_io::infer_shapes(prepared.model, prepared.cancellation, prepared.open_shapes));
    return {};
  }
  EPHOST_ASSIGN_OR_RETURN(auto notes,
                          onnx_io::apply_plugin_operators(prepared.model, *prepared.operators));
  add_notes(std::move(notes));
  EPHOST_ASSIGN_OR_RETURN(
      notes, onnx_io::infer_shapes(prepared.model, *prepared.operators, prepared.cancellation,
                                   prepared.open_shapes));
  add_notes(std::move(notes));
  return {};
}

Status check_compiled_shapes(const PreparedModel& prepared) {
  const std::set<std::string>& open = prepared.open_shapes;
  if (open.empty()) return Status::ok_status();
  for (const auto& [graph, node] : context::find_ep_context_nodes(prepared.model.graph)) {
    const auto is_open = [&, in = graph](graph::ValueId id) {
      return id != graph::kNoValue && onnx_io::is_open_shape(open, in->values[id].name);
    };
    const graph::Node& compiled = graph->nodes[node];
    if (std::ranges::any_of(compiled.inputs, is_open) ||
        std::ranges::any_of(compiled.outputs, is_open)) {
      return Status(StatusCode::kInvalidGraph,
                    formatted("{} was compiled for that shape; compile the source model again",
                              graph::describe_node(*graph, node)));
    }
  }
  return Status::ok_status();
}

}  // namespace ephost::session
