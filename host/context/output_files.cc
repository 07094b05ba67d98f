#include "host/context/output_files.h"

#include <algorithm>
#include <bit>
#include <system_error>

#include "host/base/file.h"
#include "host/base/file_error.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/loader.h"
#include "host/context/names.h"
#include "host/context/publication.h"
#include "host/onnx_io/import.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

Status invalid(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

bool exists(const fs::path& path, const FileSystem& file_system) {
  struct stat info {};
  return file_system.stat(path.c_str(), &info) == 0;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return !a.empty() && !b.empty() && fs::equivalent(a, b, ignored);
}

// Model files state names as text.
Status check_file_name(const std::string& name, std::string_view what) {
  if (is_valid_utf8(name)) return {};
  return invalid("the " + std::string(what) + " " + quote(name) +
                 " cannot be stated in a model: it is not UTF-8; choose another name");
}

Status check_initializers_name(const WriteOptions& options) {
  const std::string& name = options.external_initializers_file_name;
  if (name.empty()) return {};
  if (!std::has_single_bit(options.initializer_alignment) ||
      options.initializer_alignment > uint64_t{1} << 20) {
    return invalid("external initializers cannot be aligned to " +
                   std::to_string(options.initializer_alignment) +
                   " bytes; give a power of two, at most 1 MiB");
  }
  EPHOST_RETURN_IF_ERROR(check_file_name(name, "external initializers' file name"));
  const fs::path path(name);
  const bool plain = path.filename() == path && name != "." && name != ".." &&
                     name.find('\0') == std::string::npos;
  if (!plain) {
    return invalid("the external initializers' file name " + quote(name) +
                   " is no plain file name; the file goes beside the context model, so leave out "
                   "the folder");
  }
  if (path == options.output_path.filename()) {
    return invalid("the external initializers' file name " + quote(name) +
                   " is that of the context model itself; choose another one");
  }
  if (is_same_file(folder_of(options.output_path) / path, options.source_path)) {
    return invalid("the external initializers' file " + quote(name) +
                   " is the model that is compiled; choose another name");
  }
  return {};
}

// Whether the context model states the file as its own. A file that is no model claims nothing.
bool claims_file(const fs::path& model_path, const std::string& file_name,
                 const FileSystem& file_system) {
  if (!exists(model_path, file_system)) return false;
  const LoadOptions options{.folder = folder_of(model_path), .file_system = &file_system};
  const Result<graph::Model> model = onnx_io::import_model(
      model_path,
      {.external_files = find_superseded_initializers(model_path, options), .infer_shapes = false});
  if (!model.ok()) return false;
  const Result<ContextMetadata> stated = read_metadata(model->metadata);
  if (stated.ok() && stated->initializers.contains(file_name)) return true;
  const std::vector<NodePlace> places = find_ep_context_nodes(model->graph);
  return std::any_of(places.begin(), places.end(), [&](const NodePlace& place) {
    const Result<EpContextNode> node = read_ep_context_node(*place.graph, place.node);
    return node.ok() && node->main_context && !node->embedded && node->reference == file_name;
  });
}

}  // namespace

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
  if (options.destination != Destination::kFile || options.overwrite ||
      !exists(options.output_path, *options.file_system)) {
    return {};
  }
  return Status(StatusCode::kFail, quote(options.output_path.native()) +
                                       " exists already; remove it, or choose another output path "
                                       "(ep.context_file_path)");
}

Status check_output(const WriteOptions& options) {
  if (!options.embed) {
    EPHOST_RETURN_IF_ERROR(check_file_name(context_model_stem(options.output_path), "output name"));
  }
  if (!writes_files(options)) return {};
  if (options.output_path.empty()) {
    return invalid(
        "there is no path for the context model and its files; state it with "
        "ep.context_file_path");
  }
  EPHOST_RETURN_IF_ERROR(check_file_path(options.output_path));
  if (is_same_file(options.output_path, options.source_path)) {
    return invalid("the output " + quote(options.output_path.native()) +
                   " is the model that is compiled; choose another output path");
  }
  // Finds folders, devices and names without a file, and whether the folder takes files at all.
  const Result<AtomicFile> probe = AtomicFile::create(options.output_path, *options.file_system);
  if (!probe.ok()) return probe.status();
  EPHOST_RETURN_IF_ERROR(check_may_replace(options));
  return check_initializers_name(options);
}

Status check_binary_name(const WriteOptions& options, const std::string& file_name) {
  const fs::path folder = folder_of(options.output_path);
  const fs::path path = folder / file_name;
  if (!exists(path, *options.file_system)) return {};
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
    return Status(StatusCode::kFail, "the binary " + quote(path.native()) +
                                         " belongs to the context model " + quote(other.native()) +
                                         "; choose an output path with another name");
  }
  return {};
}

Status check_initializers_file(const WriteOptions& options, const ContentSum& sum) {
  const std::string& name = options.external_initializers_file_name;
  const fs::path path = folder_of(options.output_path) / name;
  if (!exists(path, *options.file_system)) return {};
  const Result<ContentSum> old = sum_of_file(path, *options.file_system);
  if (old.ok() && *old == sum) return {};
  if (options.overwrite && claims_file(options.output_path, name, *options.file_system)) return {};
  return Status(StatusCode::kFail,
                quote(path.native()) +
                    " exists already and is not known to be of the context model that is "
                    "replaced; remove it, or choose another name for the external initializers");
}

}  // namespace ephost::context
