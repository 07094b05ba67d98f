#include "host/context/write/output_files.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/temporary_files.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/file_names.h"
#include "host/context/read/loader.h"
#include "host/context/write/publication.h"
#include "host/onnx_io/import/import.h"
#include "host/onnx_io/import/model_metadata.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

bool exists(const fs::path& path, const FileSystem& file_system) {
  struct stat info {};
  return file_system.stat(path.c_str(), &info) == 0;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return !a.empty() && !b.empty() && fs::equivalent(a, b, ignored);
}

// Models state file names as UTF-8 text.
Status check_file_name(const std::string& name, std::string_view what) {
  if (is_valid_utf8(name)) return {};
  return invalid_argument(
      formatted("the {} {} cannot be stated in a model: it is not UTF-8; choose another name", what,
                quote(name)));
}

Status check_initializers_name(const WriteOptions& options) {
  const std::string& name = options.external_initializers_file_name;
  if (name.empty()) return {};
  if (!std::has_single_bit(options.initializer_alignment) ||
      options.initializer_alignment > uint64_t{1} << 20) {
    return invalid_argument(formatted(
        "external initializers cannot be aligned to {} bytes; give a power of two, at most 1 MiB",
        options.initializer_alignment));
  }
  EPHOST_RETURN_IF_ERROR(check_file_name(name, "external initializers' file name"));
  const fs::path path(name);
  const bool plain = path.filename() == path && name != "." && name != ".." &&
                     name.find('\0') == std::string::npos;
  if (!plain) {
    return invalid_argument(
        formatted("the external initializers' file name {} is not a plain file name; the file goes "
                  "beside the context model, so leave out the folder",
                  quote(name)));
  }
  return {};
}

// nullopt if no model can be read from `path`.
std::optional<graph::Model> read_existing(const fs::path& path, const FileSystem& file_system) {
  if (!exists(path, file_system)) return std::nullopt;
  const LoadOptions options{.folder = folder_of(path), .file_system = &file_system};
  Result<graph::Model> model = onnx_io::import_model(
      path, {.external_files = find_superseded_initializers(path, options), .infer_shapes = false});
  if (!model.ok()) return std::nullopt;
  return std::move(*model);
}

// Whether the context model lists the file as its own. A file that is not a model claims nothing.
bool claims_file(const fs::path& model_path, const std::string& file_name,
                 const FileSystem& file_system) {
  const std::optional<graph::Model> model = read_existing(model_path, file_system);
  if (!model) return false;
  const Result<ContextMetadata> stated = read_metadata(model->metadata);
  if (stated.ok() && stated->initializers.contains(file_name)) return true;
  const std::vector<NodePlace> places = find_ep_context_nodes(model->graph);
  return std::any_of(places.begin(), places.end(), [&](const NodePlace& place) {
    const Result<EpContextNode> node = read_ep_context_node(*place.graph, place.node);
    return node.ok() && node->main_context && !node->embedded && node->reference == file_name;
  });
}

// Metadata of a model, whose external files may be missing; empty if `path` is not a model.
MetadataList metadata_of(const fs::path& path, const FileSystem& file_system) {
  const Result<MappedFile> file = MappedFile::open(path, file_system);
  if (!file.ok()) return {};
  Result<MetadataList> metadata = onnx_io::read_model_metadata(file->bytes());
  return metadata.ok() ? std::move(*metadata) : MetadataList();
}

// Whether the file was written by a writer of context models, of this host or of another one.
bool is_context_output(const fs::path& path, const FileSystem& file_system) {
  if (has_context_metadata(metadata_of(path, file_system))) return true;
  const std::optional<graph::Model> model = read_existing(path, file_system);
  return model &&
         (model->producer_name == kProducerName || !find_ep_context_nodes(model->graph).empty());
}

// Whether a writer died after it published the file and before it published the model that lists
// it.
bool is_left_by_a_crash(const fs::path& path, const ContentChecksum& checksum,
                        const FileSystem& file_system) {
  const std::string name = path.filename().native();
  const std::vector<fs::path> temporaries =
      find_abandoned_temporaries(folder_of(path), file_system);
  return std::any_of(temporaries.begin(), temporaries.end(), [&](const fs::path& temporary) {
    const Result<ContextMetadata> stated = read_metadata(metadata_of(temporary, file_system));
    if (!stated.ok()) return false;
    for (const auto* checksums : {&stated->binaries, &stated->initializers}) {
      const auto entry = checksums->find(name);
      if (entry != checksums->end() && entry->second == checksum) return true;
    }
    return false;
  });
}

// Whether the file is as an earlier attempt of the operation wrote it.
bool is_own(const WriteOptions& options, const fs::path& path) {
  return std::ranges::any_of(options.written_before, [&](const WrittenFile& own) {
    if (own.path != path) return false;
    const Result<ContentChecksum> now = checksum_of_file(path, *options.file_system);
    return now.ok() && *now == own.checksum;
  });
}

constexpr std::string_view kForceRemedy =
    " (--force, or the configuration entry ep.context_force_overwrite, replaces it nevertheless)";

}  // namespace

Status invalid_argument(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

fs::path folder_of(const fs::path& output_path) {
  const fs::path folder = output_path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool writes_files(const WriteOptions& options) {
  const bool has_binaries = !options.embed && !options.write_payload;
  return options.destination == Destination::kFile || has_binaries ||
         !options.external_initializers_file_name.empty();
}

Status check_may_replace(const WriteOptions& options) {
  if (options.destination != Destination::kFile || options.force_overwrite ||
      !exists(options.output_path, *options.file_system) || is_own(options, options.output_path)) {
    return {};
  }
  if (!options.overwrite) {
    return Status(StatusCode::kFail, quote(options.output_path.native()) +
                                         " exists already; remove it, or choose another output "
                                         "path (ep.context_file_path)");
  }
  if (is_context_output(options.output_path, *options.file_system)) return {};
  return Status(StatusCode::kFail, formatted("{} exists already and is not a context model; remove "
                                             "it, or choose another output path{}",
                                             quote(options.output_path.native()), kForceRemedy));
}

Status add_output_files(const WriteOptions& options, OperationFiles& files) {
  EPHOST_RETURN_IF_ERROR(files.add_all(options.files));
  if (!options.source_path.empty()) {
    EPHOST_RETURN_IF_ERROR(files.add_input(options.source_path, "the model"));
  }
  if (options.destination == Destination::kFile) {
    EPHOST_RETURN_IF_ERROR(files.add_output(options.output_path, "the context model"));
  }
  const std::string& initializers = options.external_initializers_file_name;
  if (initializers.empty()) return {};
  return files.add_output(folder_of(options.output_path) / initializers,
                          "the file of external initializers");
}

Status check_output(const WriteOptions& options, OperationFiles& files) {
  if (!options.embed) {
    EPHOST_RETURN_IF_ERROR(check_file_name(context_model_stem(options.output_path), "output name"));
  }
  if (!writes_files(options)) return {};
  if (options.output_path.empty()) {
    return invalid_argument(
        "the context model and its files need a path; set ep.context_file_path");
  }
  EPHOST_RETURN_IF_ERROR(check_file_path(options.output_path));
  // Refuses folders, devices and paths without a file name, and folders that cannot be written to.
  const Result<AtomicFile> probe = AtomicFile::create(options.output_path, *options.file_system);
  if (!probe.ok()) return probe.status();
  EPHOST_RETURN_IF_ERROR(check_initializers_name(options));
  EPHOST_RETURN_IF_ERROR(add_output_files(options, files));
  return check_may_replace(options);
}

Status check_binary_name(const WriteOptions& options, const std::string& file_name) {
  const fs::path folder = folder_of(options.output_path);
  const fs::path path = folder / file_name;
  if (options.force_overwrite || !exists(path, *options.file_system) || is_own(options, path)) {
    return {};
  }
  if (options.destination != Destination::kFile && !options.overwrite) {
    return Status(StatusCode::kFail, quote(path.native()) +
                                         " exists already; remove it, or choose another output "
                                         "path (ep.context_file_path)");
  }
  const std::string stem = context_model_stem(options.output_path);
  for (const std::string& name : {stem + ".onnx", stem + "_ctx.onnx"}) {
    const fs::path other = folder / name;
    if (name == options.output_path.filename().native() ||
        is_same_file(other, options.source_path) ||
        !claims_file(other, file_name, *options.file_system)) {
      continue;
    }
    return Status(StatusCode::kFail, formatted("the binary {} belongs to the context model {}; "
                                               "choose an output path with another name",
                                               quote(path.native()), quote(other.native())));
  }
  return {};
}

Status check_may_replace_file(const WriteOptions& options, std::span<const fs::path> models,
                              const std::string& file_name, const ContentChecksum& checksum) {
  const FileSystem& file_system = *options.file_system;
  const fs::path path = folder_of(options.output_path) / file_name;
  if (options.force_overwrite || !exists(path, file_system) || is_own(options, path)) return {};
  const bool is_claimed =
      options.overwrite && std::any_of(models.begin(), models.end(), [&](const fs::path& model) {
        return claims_file(model, file_name, file_system);
      });
  if (is_claimed) return {};
  const Result<ContentChecksum> old = checksum_of_file(path, file_system);
  if (old.ok() && (*old == checksum || is_left_by_a_crash(path, *old, file_system))) return {};
  return Status(StatusCode::kFail,
                formatted("{} exists already and is not known to belong to the context model that "
                          "is replaced; remove it, or choose another name{}",
                          quote(path.native()), kForceRemedy));
}

}  // namespace ephost::context
