// SessionOptions: which providers a session asks, in which order, and how it works. Option keys are
// ONNX Runtime's own strings.
#pragma once

#include <ephost/status.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/logging.h>
#include <ephost/types/session_options.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost {

// A value for the model's initializer of that name (SessionOptions::add_initializer,
// SessionOptions::add_external_initializers).
struct GivenInitializer {
  std::string name;
  Value value;
  bool replaces_external = false;  // the model's data must be outside of the model
};

// A plain value. What is wrong with an entry is said when a session is created with it.
class SessionOptions {
 public:
  // Sets a configuration entry; the last one of a key stands, or the strictest one of a policy
  // (session.isolation, session.isolation.PROVIDER, session.signatures, session.quarantine). An
  // unknown key has no effect but a warning in the log.
  SessionOptions& add_config_entry(std::string key, std::string value);

  // Asks a further provider, after those that were appended before. The CPU provider is appended by
  // the session if it is missing.
  SessionOptions& append_execution_provider(std::string name, OptionList options = {},
                                            std::string version_range = {});
  SessionOptions& append_execution_provider(ProviderRequest request);
  // Asks the provider that these devices belong to, and lets it use them, in this order.
  // INVALID_ARGUMENT if there are none, or if they belong to several providers. As ONNX Runtime's
  // AppendExecutionProvider_V2.
  [[nodiscard]] Status append_execution_provider_v2(std::span<const EpDevice> devices,
                                                    OptionList options = {});
  // Lets the session choose providers and devices among those of the machine. Creating it fails
  // with INVALID_ARGUMENT if providers were appended as well.
  SessionOptions& set_ep_selection_policy(EpDevicePolicy policy);

  // Which optimization passes change the model (default: kAll); those that there are belong to
  // kBasic. The same as the entry session.graph_optimization_level; single passes are switched off
  // by optimization.disable_specified_optimizers, a list of names with `;` between them.
  SessionOptions& set_graph_optimization_level(GraphOptimizationLevel level);

  // Fixes the size of dimensions that the model leaves open, so that everything is compiled and
  // planned for this size: those that the model calls by this name, in all its graphs, or those of
  // its inputs that have this denotation, e.g. "DATA_BATCH", in any case. Sizes are at least 0; the
  // last one of a name stands. An override that has no effect is a warning in the log. Creating a
  // session fails with INVALID_ARGUMENT where overrides contradict each other or the model. These,
  // too, are configuration entries.
  SessionOptions& add_free_dimension_override_by_name(std::string_view name, int64_t size);
  SessionOptions& add_free_dimension_override_by_denotation(std::string_view denotation,
                                                            int64_t size);

  // Takes the value instead of the model's initializer of that name, in the model's main graph; it
  // must be a tensor of the same type and shape (INVALID_ARGUMENT when a session is created). Its
  // memory is not copied, unless the elements are not aligned, and must not change: sessions that
  // are given the same value share it, and a borrowed one must outlive them. The last value of a
  // name stands; a name that the model does not have is a warning in the log.
  SessionOptions& add_initializer(std::string name, Value value);
  // The same for initializers whose data is outside of the model: files that nothing else refers to
  // are not opened. INVALID_ARGUMENT, when a session is created, for a name that the model does not
  // have or whose data is inside the model.
  SessionOptions& add_external_initializers(std::vector<NamedValue> initializers);
  // Takes the bytes for the model's files of external data with these names, whether or not such
  // files exist. They are borrowed, and not copied unless elements in them are not aligned: the
  // caller keeps them unchanged as long as sessions live. A name that the model does not refer to
  // is a warning in the log.
  SessionOptions& add_external_initializers_from_files_in_memory(std::vector<FileInMemory> files);

  // Places values by a plan made beforehand (default), or allocates each when it is made.
  SessionOptions& enable_mem_pattern(bool enable);
  // Lets values take over the memory of others (default).
  SessionOptions& enable_mem_reuse(bool enable);

  // How steps run that do not wait for each other: one after the other (default), or at the same
  // time on several threads, with the same results. These, too, are configuration entries.
  SessionOptions& set_execution_mode(ExecutionMode mode);
  // The most threads that run steps of one run at the same time, the calling one included; 0
  // (default): one for each processor. Has no effect in sequential mode.
  SessionOptions& set_inter_op_num_threads(uint32_t threads);
  // The most threads that one step uses for itself, the calling one included; 0 (default): one for
  // each processor. A provider's own option goes before it.
  SessionOptions& set_intra_op_num_threads(uint32_t threads);
  // Records the phases of creation and each step of each run, until Session::end_profiling writes
  // them to the file; compile_model writes it in the end. Empty: records nothing (default).
  SessionOptions& enable_profiling(const std::filesystem::path& file);

  // Saves the model after its graph optimizations, before providers compile anything, as an ONNX
  // file that gives the same results. Written while a session is created, by each one; other
  // functions that take these options do not write it. An existing file is replaced unless it is
  // read. Creating a session fails with INVALID_GRAPH for a context model, and with FAIL if the
  // model exceeds protobuf's limit of 2 GiB: the entry
  // session.optimized_model_external_initializers_file_name puts the initializers into a file of
  // that name beside it. Such a session does not use the cache store. Empty: saves nothing
  // (default). As ONNX Runtime's SetOptimizedModelFilePath.
  SessionOptions& set_optimized_model_file_path(const std::filesystem::path& file);

  // Names the session in its messages, in place of the environment; any text.
  SessionOptions& set_log_id(std::string id);
  // Drops messages of the session below this level; without it, those that the environment drops.
  SessionOptions& set_log_severity_level(LoggingLevel level);

  // Gives the binaries of a context model by the names that its nodes state, instead of the file
  // system. They are compared with the checksums that the model gives, as always. Called by the
  // thread that creates a session, once for each name, and again where the model has to be read
  // again: because it was replaced meanwhile, or because a checksum that was compared late is
  // wrong. A failure makes creation fail with INVALID_GRAPH.
  SessionOptions& set_ep_context_data_read_func(EpContextDataReadFunction read);

  // Told what the host and the providers do while a session is created or a model compiled, by the
  // thread that does it. It must not throw, and should be quick.
  SessionOptions& set_progress_func(ProgressFunction progress);
  // Set the flag from another thread, or in a signal handler, to end creation or compilation with
  // CANCELLED; nothing half-written stays. It is looked at all along, and by providers that compile
  // where they look at it. Borrowed; null (default): no such flag. The entry
  // session.load_timeout_seconds ends them in the same way after some time, with DEADLINE_EXCEEDED.
  SessionOptions& set_load_cancellation_flag(const std::atomic<bool>* cancelled);

  // States a file that the application itself reads, or one that it is going to write, besides
  // those that the session reads and writes. Creating a session and compiling a model fail with
  // INVALID_ARGUMENT, before anything is written, where a file that is to be written is one that is
  // read, whatever path or link leads to it, or where two outputs have one name.
  SessionOptions& add_input_file(std::filesystem::path file);
  SessionOptions& add_output_file(std::filesystem::path file);

  // Appends what a selection file says (manifests/SCHEMA.md). The file counts as an input file.
  [[nodiscard]] Status load_selection(const std::filesystem::path& file);

  [[nodiscard]] const std::vector<ProviderRequest>& providers() const { return providers_; }
  [[nodiscard]] std::optional<EpDevicePolicy> ep_selection_policy() const { return policy_; }
  [[nodiscard]] const OptionList& config_entries() const { return entries_; }
  [[nodiscard]] std::optional<std::string_view> config_entry(std::string_view key) const;
  [[nodiscard]] const EpContextDataReadFunction& ep_context_data_read_func() const {
    return read_context_data_;
  }
  [[nodiscard]] const std::vector<GivenInitializer>& initializers() const { return initializers_; }
  [[nodiscard]] const std::vector<FileInMemory>& files_in_memory() const {
    return files_in_memory_;
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& input_files() const { return inputs_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& output_files() const { return outputs_; }
  [[nodiscard]] const ProgressFunction& progress_func() const { return progress_; }
  [[nodiscard]] const std::atomic<bool>* load_cancellation_flag() const { return cancelled_; }
  [[nodiscard]] const std::string& log_id() const { return log_id_; }
  [[nodiscard]] std::optional<LoggingLevel> log_severity_level() const { return log_level_; }
  [[nodiscard]] bool mem_pattern() const { return mem_pattern_; }
  [[nodiscard]] bool mem_reuse() const { return mem_reuse_; }

 private:
  std::vector<ProviderRequest> providers_;
  std::optional<EpDevicePolicy> policy_;
  OptionList entries_;
  std::vector<GivenInitializer> initializers_;
  std::vector<FileInMemory> files_in_memory_;
  std::vector<std::filesystem::path> inputs_;
  std::vector<std::filesystem::path> outputs_;
  EpContextDataReadFunction read_context_data_;
  ProgressFunction progress_;
  const std::atomic<bool>* cancelled_ = nullptr;
  std::string log_id_;
  std::optional<LoggingLevel> log_level_;
  bool mem_pattern_ = true;
  bool mem_reuse_ = true;
};

}  // namespace ephost
