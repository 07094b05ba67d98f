// Input, output and report of a compilation. The names follow ONNX Runtime's
// ModelCompilationOptions.
#pragma once

#include <ephost/element_type.h>
#include <ephost/status.h>
#include <ephost/types/cache_use.h>
#include <ephost/types/fallback.h>
#include <ephost/types/function.h>
#include <ephost/types/session_provider.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

// Writes the next bytes to the beginning of `buffer`, which is not empty; returns their number, 0
// at the end.
using ReadFunction = Function<Result<size_t>(std::span<std::byte> buffer)>;
// Receives the next bytes.
using WriteFunction = Function<Status(std::span<const std::byte> bytes)>;
// Receives the whole content of a binary.
using EpContextDataWriteFunction =
    Function<Status(std::string_view file_name, std::span<const std::byte> bytes)>;

// Location of the data of an initializer in a file beside the model.
struct ExternalInitializerInfo {
  std::string file_path;  // as given in the model
  uint64_t file_offset = 0;
  uint64_t byte_size = 0;
};

// An initializer of the written model. All members are borrowed for the duration of the call.
struct InitializerInfo {
  std::string_view name;
  ElementType element_type = ElementType::kUndefined;
  std::span<const int64_t> shape;
  std::span<const std::byte> bytes;
  // Location of the data in the source model; null if it is inside the model.
  const ExternalInitializerInfo* external = nullptr;
};

enum class InitializerLocation {
  kEmbedded,
  kExternalFile,  // output_model_external_initializers_file, at an offset that the host chooses
  // The data stays in its file, which must be below the folder of the written model; the written
  // model then depends on that file. Only if InitializerInfo::external is set.
  kOriginal,
};
using GetInitializerLocationFunction =
    Function<Result<InitializerLocation>(const InitializerInfo& initializer)>;

// Input and output of compile_model. All functions are called on the thread of compile_model.
struct ModelCompilationOptions {
  // The model: exactly one of these. The external data of a model in memory is in the folder
  // `session.model_external_initializers_file_folder_path`.
  std::string input_model_path;
  std::span<const std::byte> input_model_buffer;  // borrowed
  ReadFunction input_model_read_func;

  // Where the context model goes: at most one of these. If none is set: to `ep.context_file_path`,
  // or to `<model>_ctx.onnx` beside the model.
  std::string output_model_path;
  std::vector<std::byte>* output_model_buffer = nullptr;  // assigned on success
  // Receives the model in pieces of 64 KiB, the last one shorter, once all files are written.
  // compile_model returns its failure unchanged, after it has restored the files.
  WriteFunction output_model_write_func;

  // Payloads inside the model instead of in `[model]_[ep].bin`. Not set: `ep.context_embed_mode`.
  std::optional<bool> ep_context_embed_mode;
  // Folder and [model] of these binaries for a model that does not go to a path. Not set: taken
  // from `ep.context_file_path`, without which no binaries can be written.
  std::string ep_context_binary_folder;
  std::string ep_context_binary_model_name;
  // Receives these binaries instead of the file system, before the model is written. compile_model
  // returns its failure unchanged. The model has the checksums of what the function receives.
  EpContextDataWriteFunction ep_context_data_write_func;

  // Name of a file beside the model for the remaining initializers. Not set:
  // `ep.context_model_external_initializers_file_name`; if that is not set either, they are
  // embedded.
  std::string output_model_external_initializers_file;
  // Initializers with fewer bytes than this are embedded in any case.
  uint64_t external_initializers_size_threshold = 0;
  // Alignment in bytes of initializers of 1 MiB or more in that file, so that they can be mapped: a
  // power of two, at most 1 MiB; 0 stands for 4096.
  uint64_t external_initializers_alignment = 4096;
  // Places each initializer that has data, instead of file name and threshold. compile_model
  // returns its failure unchanged.
  GetInitializerLocationFunction output_model_get_initializer_location_func;

  // The id of one of Environment::targets(): the provider that has it compiles for it instead of
  // the devices of this machine, and sessions there load the result. Empty: for this machine.
  // INVALID_ARGUMENT if none of the providers that are asked has it.
  std::string target;

  // Compile twice, and fail (EP_FAIL) before anything is written if a provider whose manifest says
  // `deterministic: true` writes other payloads the second time. The cache store is not used.
  bool check_deterministic = false;
  // Fail (FAIL) if no provider compiled anything; otherwise the plain model is written.
  bool error_if_no_nodes_compiled = false;
  // Fail (FAIL) if the output exists; otherwise it is replaced if it is a context model.
  bool error_if_output_exists = false;
  // Replace existing files whatever they contain, except those that the model is read from; same as
  // the entry `ep.context_force_overwrite`. Otherwise compile_model fails (FAIL) rather than
  // replace a file that is neither a context model nor known to belong to the replaced one.
  bool force_overwrite = false;
};

struct CompiledFile {
  std::string path;
  uint64_t bytes = 0;
};

struct CompiledPartition {
  std::string name;
  std::string provider;
  uint64_t nodes = 0;
};

struct CompileReport {
  std::string output_path;                    // empty if the model did not go to a path
  std::vector<CompiledFile> files;            // in the order of publication, the model last
  std::vector<CompiledPartition> partitions;  // replaced by EPContext nodes
  std::vector<Fallback> fallbacks;            // in the order of the attempts
  uint64_t remaining_nodes = 0;               // will be run by kernels
  // With check_deterministic: the providers that promise to write the same bytes, and did.
  std::vector<std::string> deterministic_providers;
  CacheUse cache_use;                      // hit: nothing had to be compiled
  std::vector<SessionProvider> providers;  // in priority order
};

}  // namespace ephost
