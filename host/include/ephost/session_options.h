// SessionOptions: which providers a session asks, in which order, and how it works. Option keys are
// ONNX Runtime's own strings.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/callbacks.h>
#include <ephost/detail/records/session.h>
#include <ephost/status.h>
#include <ephost/types/config_entry.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/logging.h>
#include <ephost/types/session_options.h>
#include <ephost/value.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost {
inline namespace v1 {

// Which providers a session asks, and how it works. What returns the options, so that calls can be
// chained, takes every value: what is wrong with it is said when a session is created with them.
// What can be refused at once, or reads a file, returns a Status and has changed nothing if that is
// a failure. A number that its enumeration does not have is a mistake of the program and, as a lack
// of memory is, an exception (std::invalid_argument, std::bad_alloc).
class SessionOptions {
 public:
  SessionOptions() {
    ephost_session_options* made = nullptr;
    detail::expect_success(table().create(&made));
    handle_.reset(made);
  }
  SessionOptions(const SessionOptions& other) : read_(other.read_), progress_(other.progress_) {
    ephost_session_options* made = nullptr;
    detail::expect_success(table().clone(other.handle(), &made));
    handle_.reset(made);
  }
  SessionOptions(SessionOptions&&) noexcept = default;
  SessionOptions& operator=(const SessionOptions& other) { return *this = SessionOptions(other); }
  SessionOptions& operator=(SessionOptions&&) noexcept = default;
  ~SessionOptions() = default;

  // Sets a configuration entry; the last one of a key stands, or the strictest one of a policy
  // (session.isolation, session.isolation.PROVIDER, session.signatures, session.quarantine). An
  // unknown key has no effect but a warning in the log.
  SessionOptions& add_config_entry(const std::string& key, const std::string& value) {
    return after(table().add_config_entry(handle(), key.c_str(), value.c_str()));
  }

  // Asks a further provider, after those that were appended before. The CPU provider is appended by
  // the session if it is missing.
  SessionOptions& append_execution_provider(std::string name, OptionList options = {},
                                            std::string version_range = {}) {
    return append_execution_provider(ProviderRequest{.name = std::move(name),
                                                     .version_range = std::move(version_range),
                                                     .options = std::move(options),
                                                     .devices = {}});
  }
  SessionOptions& append_execution_provider(const ProviderRequest& request) {
    const detail::RequestView given(request);
    return after(table().append_execution_provider(handle(), given.record()));
  }
  // Asks the provider that these devices belong to, and lets it use them, in this order.
  // INVALID_ARGUMENT if there are none, or if they belong to several providers. As ONNX Runtime's
  // AppendExecutionProvider_V2.
  [[nodiscard]] Status append_execution_provider_v2(std::span<const EpDevice> devices,
                                                    const OptionList& options = {}) {
    detail::SmallArray<ephost_device> records(devices.size());
    detail::SmallArray<const ephost_device*> given(devices.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      records[i].struct_size = sizeof(ephost_device);
      records[i].provider = devices[i].provider.c_str();
      records[i].id = devices[i].id.c_str();
      given[i] = &records[i];
    }
    const detail::OptionViews entries(options);
    return detail::take_status(table().append_execution_provider_v2(
        handle(), given.data(), given.size(), entries.data(), entries.size()));
  }
  // Lets the session choose providers and devices among those of the machine. Creating it fails
  // with INVALID_ARGUMENT if providers were appended as well.
  SessionOptions& set_ep_selection_policy(EpDevicePolicy policy) {
    return after(table().set_ep_selection_policy(handle(), static_cast<int32_t>(policy)));
  }

  // Which optimization passes change the model (default: kAll); those that there are belong to
  // kBasic. The same as the entry session.graph_optimization_level; single passes are switched off
  // by optimization.disable_specified_optimizers, a list of names with `;` between them.
  SessionOptions& set_graph_optimization_level(GraphOptimizationLevel level) {
    return after(table().set_graph_optimization_level(handle(), static_cast<int32_t>(level)));
  }

  // Places values by a plan made beforehand (default), or allocates each when it is made.
  SessionOptions& enable_mem_pattern(bool enable) {
    return after(table().enable_mem_pattern(handle(), enable ? 1 : 0));
  }
  // Lets values take over the memory of others (default).
  SessionOptions& enable_mem_reuse(bool enable) {
    return after(table().enable_mem_reuse(handle(), enable ? 1 : 0));
  }

  // How steps run that do not wait for each other: one after the other (default), or at the same
  // time on several threads, with the same results. These, too, are configuration entries.
  SessionOptions& set_execution_mode(ExecutionMode mode) {
    return after(table().set_execution_mode(handle(), static_cast<int32_t>(mode)));
  }
  // The most threads that run steps of one run at the same time, the calling one included; 0
  // (default): one for each processor. Has no effect in sequential mode.
  SessionOptions& set_inter_op_num_threads(uint32_t threads) {
    return after(table().set_inter_op_num_threads(handle(), threads));
  }
  // The most threads that one step uses for itself, the calling one included; 0 (default): one for
  // each processor. A provider's own option goes before it.
  SessionOptions& set_intra_op_num_threads(uint32_t threads) {
    return after(table().set_intra_op_num_threads(handle(), threads));
  }
  // Records the phases of creation and each step of each run, until Session::end_profiling writes
  // them to the file; compile_model writes it in the end. Empty: records nothing (default).
  SessionOptions& enable_profiling(const std::string& file) {
    return after(table().enable_profiling(handle(), file.c_str()));
  }

  // Gives the binaries of a context model by the names that its nodes state, instead of the file
  // system. They are compared with the checksums that the model gives, as always. Called by the
  // thread that creates a session, once for each name, and again where the model has to be read
  // again: because it was replaced meanwhile, or because a checksum that was compared late is
  // wrong. A failure makes creation fail with INVALID_GRAPH.
  SessionOptions& set_ep_context_data_read_func(EpContextDataReadFunction read) {
    read_ = std::move(read);
    return after(table().set_ep_context_data_read_func(
        handle(), read_ ? detail::call_context_data_read : nullptr, read_.context()));
  }

  // Told what the host and the providers do while a session is created or a model compiled, by the
  // thread that does it. It should be quick. An exception that it throws is dropped: what is told
  // is for information only, and the work continues.
  SessionOptions& set_progress_func(ProgressFunction progress) {
    progress_ = std::move(progress);
    return after(table().set_progress_func(handle(), progress_ ? detail::call_progress : nullptr,
                                           progress_.context()));
  }
  // Set the flag from another thread, or in a signal handler, to end creation or compilation with
  // CANCELLED; nothing half-written stays. It is looked at all along, and by providers that compile
  // where they look at it. Borrowed; null (default): no such flag. The entry
  // session.load_timeout_seconds ends them in the same way after some time, with DEADLINE_EXCEEDED.
  SessionOptions& set_load_cancellation_flag(const std::atomic<bool>* cancelled) {
    return after(table().set_load_cancellation_flag(handle(), cancelled));
  }

  // Fixes the size of dimensions that the model leaves open, so that everything is compiled and
  // planned for this size: those that the model calls by this name, in all its graphs, or those of
  // its inputs that have this denotation, e.g. "DATA_BATCH", in any case. Sizes are at least 0; the
  // last one of a name stands. An override that has no effect is a warning in the log. Creating a
  // session fails with INVALID_ARGUMENT where overrides contradict each other or the model. These,
  // too, are configuration entries.
  SessionOptions& add_free_dimension_override_by_name(const std::string& name, int64_t size) {
    return after(table().add_free_dimension_override_by_name(handle(), name.c_str(), size));
  }
  SessionOptions& add_free_dimension_override_by_denotation(const std::string& denotation,
                                                            int64_t size) {
    return after(
        table().add_free_dimension_override_by_denotation(handle(), denotation.c_str(), size));
  }

  // Takes the value instead of the model's initializer of that name, in the model's main graph; it
  // must be a tensor of the same type and shape (INVALID_ARGUMENT when a session is created). Its
  // memory is not copied, unless the elements are not aligned, and must not change: sessions that
  // are given the same value share it, and a borrowed one must outlive them. The last value of a
  // name stands; a name that the model does not have is a warning in the log.
  SessionOptions& add_initializer(const std::string& name, const Value& value) {
    return after(table().add_initializer(handle(), name.c_str(), value.handle()));
  }
  // The same for initializers whose data is outside of the model: files that nothing else refers to
  // are not opened. INVALID_ARGUMENT, when a session is created, for a name that the model does not
  // have or whose data is inside the model.
  SessionOptions& add_external_initializers(std::span<const NamedValue> initializers) {
    const detail::NamedValueViews given(initializers);
    return after(table().add_external_initializers(handle(), given.names.data(),
                                                   given.values.data(), initializers.size()));
  }
  // Takes the bytes for the model's files of external data with these names, whether or not such
  // files exist. They are borrowed, and not copied unless elements in them are not aligned: the
  // caller keeps them unchanged as long as sessions live. A name that is not in the model is a
  // warning in the log.
  SessionOptions& add_external_initializers_from_files_in_memory(
      std::span<const FileInMemory> files) {
    detail::SmallArray<const char*> names(files.size());
    detail::SmallArray<const void*> buffers(files.size());
    detail::SmallArray<uint64_t> sizes(files.size());
    for (size_t i = 0; i < files.size(); ++i) {
      names[i] = files[i].name.c_str();
      buffers[i] = files[i].bytes.data();
      sizes[i] = files[i].bytes.size();
    }
    return after(table().add_external_initializers_from_files_in_memory(
        handle(), names.data(), buffers.data(), sizes.data(), files.size()));
  }

  // Saves the model after its graph optimizations, before providers compile anything, as an ONNX
  // file that gives the same results. Written while a session is created, by each one; other
  // functions that take these options do not write it. An existing file is replaced unless it is
  // read. Creating a session fails with INVALID_GRAPH for a context model, and with FAIL if the
  // model exceeds protobuf's limit of 2 GiB: the entry
  // session.optimized_model_external_initializers_file_name puts the initializers into a file of
  // that name beside it. Such a session does not use the cache store. Empty: saves nothing
  // (default). As ONNX Runtime's SetOptimizedModelFilePath.
  SessionOptions& set_optimized_model_file_path(const std::string& file) {
    return after(table().set_optimized_model_file_path(handle(), file.c_str()));
  }

  // Names the session in its messages, in place of the environment; any text.
  SessionOptions& set_log_id(const std::string& id) {
    return after(table().set_log_id(handle(), id.c_str()));
  }
  // Drops messages of the session below this level; without it, those that the environment drops.
  SessionOptions& set_log_severity_level(LoggingLevel level) {
    return after(table().set_log_severity_level(handle(), static_cast<int32_t>(level)));
  }

  // States a file that the application itself reads, or one that it is going to write, besides
  // those that the session reads and writes. Creating a session and compiling a model fail with
  // INVALID_ARGUMENT, before anything is written, where a file that is to be written is one that is
  // read, whatever path or link leads to it, or where two outputs have one name.
  SessionOptions& add_input_file(const std::string& file) {
    return after(table().add_input_file(handle(), file.c_str()));
  }
  SessionOptions& add_output_file(const std::string& file) {
    return after(table().add_output_file(handle(), file.c_str()));
  }

  // Appends what a selection file says (manifests/SCHEMA.md). The file counts as an input file.
  [[nodiscard]] Status load_selection(const std::string& file) {
    return detail::take_status(table().load_selection(handle(), file.c_str()));
  }

  EPHOST_ON_DEMAND
  [[nodiscard]] std::vector<ProviderRequest> providers() const {
    const auto of = info();
    return detail::read_list<ProviderRequest>(of->providers, of->provider_count);
  }
  EPHOST_ON_DEMAND
  [[nodiscard]] OptionList config_entries() const {
    const auto of = info();
    OptionList entries;
    for (const ephost_key_value& entry : std::span(of->config_entries, of->config_entry_count)) {
      entries.emplace_back(entry.key, entry.value);
    }
    return entries;
  }
  [[nodiscard]] std::optional<std::string> config_entry(const std::string& key) const {
    const char* const value = table().get_config_entry(handle(), key.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }

  // The handle of the C API; it belongs to this object.
  [[nodiscard]] ephost_session_options* handle() const { return handle_.get(); }

 private:
  struct Release {
    void operator()(ephost_session_options* options) const { table().release(options); }
  };

  static const ephost_session_options_api& table() { return *detail::api().session_options; }
  SessionOptions& after(ephost_status* status) {
    detail::expect_success(status);
    return *this;
  }
  [[nodiscard]] detail::Report<ephost_session_options_info> info() const {
    const ephost_session_options_info* report = nullptr;
    detail::expect_success(table().info(handle(), &report));
    return detail::Report<ephost_session_options_info>(report);
  }

  detail::Owned<ephost_session_options, Release> handle_;
  // What the handle borrows.
  EpContextDataReadFunction read_;
  ProgressFunction progress_;
};

// Every configuration entry that the library knows, by subject.
EPHOST_ON_DEMAND
[[nodiscard]] inline std::vector<ConfigEntryDescription> known_config_entries() {
  const ephost_config_entry_list* list = nullptr;
  detail::expect_success(detail::api().session_options->known_config_entries(&list));
  const detail::Report<ephost_config_entry_list> report(list);
  return detail::read_list<ConfigEntryDescription>(list->entries, list->entry_count);
}

}  // namespace v1
}  // namespace ephost
