// compile_model: from a model to a context model, which later sessions load without compiling.
#pragma once

#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ephost {

struct CompileOptions {
  // Where the context model goes; empty: beside the model, `<model>_ctx.onnx`.
  std::filesystem::path output_path;
  // Payloads inside the model instead of in `[model]_[ep].bin` beside it.
  bool embed_context = false;
  // All initializers of the written model go to this file beside it; empty: they are embedded.
  std::string external_initializers_file_name;
  // FAIL where the output exists already; otherwise it is replaced.
  bool error_if_output_exists = false;
  // FAIL where no provider compiled anything; otherwise the plain model is written.
  bool error_if_no_nodes_compiled = false;
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
  std::filesystem::path output_path;
  std::vector<CompiledFile> files;            // in the order of publication, the model last
  std::vector<CompiledPartition> partitions;  // that were replaced by EPContext nodes
  uint64_t remaining_nodes = 0;               // that will be run by kernels
};

// Compiles the partitions of the model at `model_path` and writes the context model. Everything
// appears at once and complete, or not at all. INVALID_GRAPH where the model is a context model
// already. The `ep.context_*` entries of `options` that the arguments repeat are ignored.
[[nodiscard]] Result<CompileReport> compile_model(const Environment& environment,
                                                  const std::filesystem::path& model_path,
                                                  const SessionOptions& options,
                                                  const CompileOptions& compile_options = {});

}  // namespace ephost
