// compile_model: from a model to a context model, which later sessions load without compiling. The
// names follow ONNX Runtime's ModelCompilationOptions.
#pragma once

#include <ephost/cache_use.h>
#include <ephost/element_type.h>
#include <ephost/environment.h>
#include <ephost/fallback.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

// Fills the front of `buffer`, which is not empty, with the next bytes; returns how many, 0 at the
// end.
using ReadFunction = std::function<Result<size_t>(std::span<std::byte> buffer)>;
// Takes the next bytes.
using WriteFunction = std::function<Status(std::span<const std::byte> bytes)>;
// Takes the whole content of a binary.
using EpContextDataWriteFunction =
    std::function<Status(std::string_view file_name, std::span<const std::byte> bytes)>;

// Data of an initializer in a file beside the model.
struct ExternalInitializerInfo {
  std::string file_path;  // as the model states it
  uint64_t file_offset = 0;
  uint64_t byte_size = 0;
};

// An initializer of the written model. Everything is borrowed for the call.
struct InitializerInfo {
  std::string_view name;
  ElementType element_type = ElementType::kUndefined;
  std::span<const int64_t> shape;
  std::span<const std::byte> bytes;
  // Where the source model has the data; null if it holds it itself.
  const ExternalInitializerInfo* external = nullptr;
};

enum class InitializerLocation {
  kEmbedded,
  kExternalFile,  // output_model_external_initializers_file, at an offset that the host chooses
  // The file of the source model, which must lie below the folder of the written model; the written
  // model depends on it then. Only for InitializerInfo::external.
  kOriginal,
};
using GetInitializerLocationFunction =
    std::function<Result<InitializerLocation>(const InitializerInfo& initializer)>;

// What goes in and what comes out. All functions are called from the thread of compile_model.
struct ModelCompilationOptions {
  // The model: one of these. External data of a model that is no path lies in the folder
  // `session.model_external_initializers_file_folder_path`.
  std::filesystem::path input_model_path;
  std::span<const std::byte> input_model_buffer;  // borrowed
  ReadFunction input_model_read_func;

  // Where the context model goes: at most one of these. None: `ep.context_file_path`, or
  // `<model>_ctx.onnx` beside the model.
  std::filesystem::path output_model_path;
  std::vector<std::byte>* output_model_buffer = nullptr;  // assigned on success
  // Gets the model in pieces of 64 KiB, the last one shorter, when all files are written. What it
  // fails with is what compile_model fails with; files are taken back then.
  WriteFunction output_model_write_func;

  // Payloads inside the model instead of in `[model]_[ep].bin`. Not set: `ep.context_embed_mode`.
  std::optional<bool> ep_context_embed_mode;
  // Folder and [model] of these binaries for a model that goes to no path. Not set: as of
  // `ep.context_file_path`, without which there can be no binaries.
  std::filesystem::path ep_context_binary_folder;
  std::string ep_context_binary_model_name;
  // Gets these binaries instead of the file system, before the model is written. What it fails with
  // is what compile_model fails with. The checksums that the model states are those of what it
  // gets.
  EpContextDataWriteFunction ep_context_data_write_func;

  // Name of a file beside the model for the initializers that are left. Not set:
  // `ep.context_model_external_initializers_file_name`; empty too: they are embedded.
  std::string output_model_external_initializers_file;
  // Initializers of fewer bytes are embedded all the same.
  uint64_t external_initializers_size_threshold = 0;
  // Those of 1 MiB or more start in the file at a multiple of this, so that they can be mapped: a
  // power of two, at most 1 MiB.
  uint64_t external_initializers_alignment = 4096;
  // Decides about each initializer that has data, in place of file name and threshold. What it
  // fails with is what compile_model fails with.
  GetInitializerLocationFunction output_model_get_initializer_location_func;

  // FAIL where no provider compiled anything; otherwise the plain model is written.
  bool error_if_no_nodes_compiled = false;
  // FAIL where the output exists already; otherwise it is replaced if it is a context model.
  bool error_if_output_exists = false;
  // Replace existing files whatever they hold, but none that the model is read from; the entry
  // `ep.context_force_overwrite` says the same. Otherwise what is no context model, and a file that
  // is not known as one of the context model that is replaced, is kept: FAIL.
  bool force_overwrite = false;
};

struct CompiledFile {
  std::filesystem::path path;
  uint64_t bytes = 0;
};

struct CompiledPartition {
  std::string name;
  std::string provider;
  uint64_t nodes = 0;
};

struct CompileReport {
  std::filesystem::path output_path;          // empty for a model that went to no path
  std::vector<CompiledFile> files;            // in the order of publication, the model last
  std::vector<CompiledPartition> partitions;  // that were replaced by EPContext nodes
  std::vector<Fallback> fallbacks;            // in the order of the attempts
  uint64_t remaining_nodes = 0;               // that will be run by kernels
  CacheUse cache_use;                         // a hit: nothing had to be compiled
};

// Compiles the partitions of a model and writes the context model. Everything appears at once and
// complete, or not at all. INVALID_ARGUMENT for options that exclude each other or an output that
// cannot be, found before anything is compiled; INVALID_GRAPH where the model is a context model
// already; MODEL_LOAD_CANCELED where `options` say so. The `ep.context_*` entries of `options`
// stand in for what `compilation` leaves open; `ep.context_enable` is ignored.
[[nodiscard]] Result<CompileReport> compile_model(const Environment& environment,
                                                  const SessionOptions& options,
                                                  const ModelCompilationOptions& compilation);

}  // namespace ephost
