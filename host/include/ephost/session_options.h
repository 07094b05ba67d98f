// SessionOptions: which providers a session asks, in which order, and how it works. Option keys are
// ONNX Runtime's own strings.
#pragma once

#include <ephost/ep_device.h>
#include <ephost/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost {

using OptionList = std::vector<std::pair<std::string, std::string>>;

// The provider that every session has as its last one, unless it was requested at another place or
// all nodes of the model are compiled already.
inline constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

struct ProviderRequest {
  std::string name;           // provider name or short name
  std::string version_range;  // e.g. ">=1.2, <2"; empty: any
  OptionList options;
  // The devices that the provider shall use, in this order: each is the id of an EpDevice, or a
  // type
  // ("npu": all of them), or a type and a number from 0 ("gpu:1"). Virtual devices are only found
  // by their id. Empty: all devices that are not virtual.
  std::vector<std::string> devices;
};

// The content of a binary of the context cache. `owner` keeps the bytes alive as long as somebody
// holds it; without an owner they need only last for the call, and are copied. Bytes that start at
// a multiple of 64 and have an owner are used where they lie.
struct EpContextData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
using EpContextDataReadFunction = std::function<Result<EpContextData>(std::string_view file_name)>;

// How far a provider has come with what it is doing: `fraction` of 0 to 1.
using ProgressFunction =
    std::function<void(std::string_view provider, double fraction, std::string_view message)>;

enum class GraphOptimizationLevel { kDisableAll, kBasic, kExtended, kAll };
enum class ExecutionMode { kSequential, kParallel };

// A plain value. What is wrong with an entry is said when a session is created with it.
class SessionOptions {
 public:
  // Sets a configuration entry; the last one of a key stands. An unknown key has no effect but a
  // warning in the log.
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

  // Gives the binaries of a context model by the names that its nodes state, instead of the file
  // system. They are compared with the checksums that the model states, as ever. Called by the
  // thread that creates a session, once for each name, and again where the model has to be read
  // again: because it was replaced meanwhile, or because a checksum that was compared late is
  // wrong. A failure makes creation fail with INVALID_GRAPH.
  SessionOptions& set_ep_context_data_read_func(EpContextDataReadFunction read);

  // Told what providers do while a session is created or a model compiled, by the thread that does
  // it. It must not throw, and should be quick.
  SessionOptions& set_progress_func(ProgressFunction progress);
  // Set the flag from another thread, or in a signal handler, to end creation or compilation with
  // MODEL_LOAD_CANCELED; nothing half-written stays. It is looked at all along, and by providers
  // that compile where they look at it. Borrowed; null (default): no such flag. The entry
  // session.load_timeout_seconds ends them in the same way after some time.
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
  [[nodiscard]] const std::vector<std::filesystem::path>& input_files() const { return inputs_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& output_files() const { return outputs_; }
  [[nodiscard]] const ProgressFunction& progress_func() const { return progress_; }
  [[nodiscard]] const std::atomic<bool>* load_cancellation_flag() const { return cancelled_; }
  [[nodiscard]] bool mem_pattern() const { return mem_pattern_; }
  [[nodiscard]] bool mem_reuse() const { return mem_reuse_; }

 private:
  std::vector<ProviderRequest> providers_;
  std::optional<EpDevicePolicy> policy_;
  OptionList entries_;
  std::vector<std::filesystem::path> inputs_;
  std::vector<std::filesystem::path> outputs_;
  EpContextDataReadFunction read_context_data_;
  ProgressFunction progress_;
  const std::atomic<bool>* cancelled_ = nullptr;
  bool mem_pattern_ = true;
  bool mem_reuse_ = true;
};

}  // namespace ephost
