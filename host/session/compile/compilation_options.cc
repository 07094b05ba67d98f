#include "host/session/compile/compilation_options.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/file_names.h"
#include "host/context/write/output_files.h"

namespace ephost::session {
namespace {

namespace fs = std::filesystem;

using context::invalid_argument;

Result<fs::path> output_file(const ModelCompilationOptions& options, const SessionConfig& config) {
  if (!options.output_model_path.empty()) return fs::path(options.output_model_path);
  if (!config.context_file_path.empty()) return config.context_file_path;
  if (!options.input_model_path.empty()) {
    return context::context_model_path(options.input_model_path);
  }
  return invalid_argument(
      "a model from memory has no name to derive its context model's from; set output_model_path "
      "or ep.context_file_path, or take the model as a buffer");
}

// The path after which the files of a model in memory are named. Empty if the options give none, as
// files would then go to an unexpected place.
fs::path path_of_files(const ModelCompilationOptions& options,
                       const context::WriteOptions& write_options, const SessionConfig& config) {
  const bool is_named =
      !options.ep_context_binary_folder.empty() || !options.ep_context_binary_model_name.empty();
  if (!is_named && !config.context_file_path.empty()) return config.context_file_path;
  if (!is_named && context::writes_files(write_options)) return {};
  std::string name = options.ep_context_binary_model_name;
  if (name.empty()) name = fs::path(options.input_model_path).stem().native();
  if (name.empty()) name = "model";
  if (!name.ends_with(".onnx")) name += "_ctx.onnx";
  return fs::path(options.ep_context_binary_folder) / name;
}

Result<onnx_io::Placement> place(const GetInitializerLocationFunction& ask, std::string_view name,
                                 const graph::Tensor& tensor) {
  InitializerInfo info{
      .name = name, .element_type = tensor.type, .shape = tensor.shape, .bytes = tensor.data.bytes};
  ExternalInitializerInfo external;
  if (tensor.external) {
    external = {tensor.external->location, tensor.external->offset, tensor.external->size};
    info.external = &external;
  }
  EPHOST_ASSIGN_OR_RETURN(const InitializerLocation location, ask(info));
  switch (location) {
    case InitializerLocation::kExternalFile:
      return onnx_io::Placement::kExternal;
    case InitializerLocation::kOriginal:
      return onnx_io::Placement::kOriginal;
    case InitializerLocation::kEmbedded:
      break;
  }
  return onnx_io::Placement::kEmbedded;
}

}  // namespace

Status check_choices(const ModelCompilationOptions& options) {
  const int inputs = int{!options.input_model_path.empty()} +
                     int{options.input_model_buffer.data() != nullptr} +
                     int{options.input_model_read_func != nullptr};
  if (inputs != 1) {
    return invalid_argument(
        formatted("compile_model needs one model and got {}; "
                  "set one of input_model_path, input_model_buffer and input_model_read_func",
                  inputs));
  }
  const int outputs = int{!options.output_model_path.empty()} +
                      int{options.output_model_buffer != nullptr} +
                      int{options.output_model_write_func != nullptr};
  if (outputs > 1) {
    return invalid_argument(
        "compile_model writes one model and got several places for it; set one of "
        "output_model_path, output_model_buffer and output_model_write_func");
  }
  if (options.error_if_output_exists && options.force_overwrite) {
    return invalid_argument(
        "error_if_output_exists and force_overwrite exclude each other; set one of them");
  }
  const std::string& name = options.ep_context_binary_model_name;
  if (name.find('/') == std::string::npos) return Status::ok_status();
  return invalid_argument("ep_context_binary_model_name " + quote(name) +
                          " has a folder in it; that goes to ep_context_binary_folder");
}

Result<context::WriteOptions> compilation_write_options(const ModelCompilationOptions& options,
                                                        const SessionConfig& config) {
  context::WriteOptions write;
  write.source_path = options.input_model_path;
  write.overwrite = !options.error_if_output_exists;
  write.force_overwrite = options.force_overwrite || config.context_force_overwrite;
  write.embed = options.ep_context_embed_mode.value_or(config.context_embed_mode);
  // An empty Function would make a std::function that is not empty.
  if (const auto& receive = options.ep_context_data_write_func) write.write_payload = receive;
  write.external_initializers_file_name = options.output_model_external_initializers_file.empty()
                                              ? config.context_external_initializers_file
                                              : options.output_model_external_initializers_file;
  write.initializer_size_threshold = options.external_initializers_size_threshold;
  write.initializer_alignment = options.external_initializers_alignment;
  if (const auto& ask = options.output_model_get_initializer_location_func) {
    write.place_initializer = [&ask](std::string_view name, const graph::Tensor& tensor) {
      return place(ask, name, tensor);
    };
  }
  if (options.output_model_write_func) {
    write.destination = context::Destination::kFunction;
    write.write_model = options.output_model_write_func;
  } else if (options.output_model_buffer != nullptr) {
    write.destination = context::Destination::kMemory;
  }
  if (write.destination == context::Destination::kFile) {
    EPHOST_ASSIGN_OR_RETURN(write.output_path, output_file(options, config));
  } else {
    write.output_path = path_of_files(options, write, config);
  }
  return write;
}

Result<std::vector<std::byte>> read_all(const ReadFunction& read,
                                        const Cancellation& cancellation) {
  constexpr size_t kLeastRoom = size_t{1} << 20;
  std::vector<std::byte> bytes;
  for (size_t size = 0;;) {
    EPHOST_RETURN_IF_ERROR(cancellation.check());
    if (bytes.size() - size < kLeastRoom) bytes.resize(std::max(2 * size, kLeastRoom) + kLeastRoom);
    const std::span<std::byte> room = std::span(bytes).subspan(size);
    EPHOST_ASSIGN_OR_RETURN(const size_t count, read(room));
    if (count > room.size()) {
      return invalid_argument(formatted(
          "input_model_read_func gives {} bytes where there is room for {}", count, room.size()));
    }
    size += count;
    if (count > 0) continue;
    bytes.resize(size);
    return bytes;
  }
}

}  // namespace ephost::session
