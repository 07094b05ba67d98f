#include "host/session/config/session_options.h"

#include <array>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/selection.h"
#include "host/session/config/policy_entries.h"
#include "host/session/config/session_config.h"

namespace ephost {

SessionOptions& SessionOptions::add_config_entry(std::string key, std::string value) {
  for (auto& [known, text] : entries_) {
    if (known == key) {
      text = session::merge_entry(key, text, std::move(value));
      return *this;
    }
  }
  entries_.emplace_back(std::move(key), std::move(value));
  return *this;
}

SessionOptions& SessionOptions::append_execution_provider(std::string name, OptionList options,
                                                          std::string version_range) {
  providers_.push_back({std::move(name), std::move(version_range), std::move(options)});
  return *this;
}

SessionOptions& SessionOptions::append_execution_provider(ProviderRequest request) {
  providers_.push_back(std::move(request));
  return *this;
}

Status SessionOptions::append_execution_provider_v2(std::span<const EpDevice> devices,
                                                    OptionList options) {
  if (devices.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "append_execution_provider_v2 got no device; give one of Environment::devices()");
  }
  ProviderRequest request{.name = devices.front().provider, .options = std::move(options)};
  for (const EpDevice& device : devices) {
    if (device.provider != request.name) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("append_execution_provider_v2 got devices of {} and of {}; append "
                              "each provider by a call of its own",
                              quote(request.name), quote(device.provider)));
    }
    request.devices.push_back(device.id);
  }
  append_execution_provider(std::move(request));
  return Status::ok_status();
}

SessionOptions& SessionOptions::set_ep_selection_policy(EpDevicePolicy policy) {
  policy_ = policy;
  return *this;
}

SessionOptions& SessionOptions::set_graph_optimization_level(GraphOptimizationLevel level) {
  constexpr std::array<const char*, 4> kLevels = {"disable_all", "basic", "extended", "all"};
  return add_config_entry("session.graph_optimization_level", kLevels[static_cast<size_t>(level)]);
}

SessionOptions& SessionOptions::add_free_dimension_override_by_name(std::string_view name,
                                                                    int64_t size) {
  return add_config_entry(std::string(session::kDimensionByNamePrefix).append(name),
                          std::to_string(size));
}

SessionOptions& SessionOptions::add_free_dimension_override_by_denotation(
    std::string_view denotation, int64_t size) {
  return add_config_entry(
      std::string(session::kDimensionByDenotationPrefix).append(ascii_lower(denotation)),
      std::to_string(size));
}

SessionOptions& SessionOptions::add_initializer(std::string name, Value value) {
  initializers_.push_back({.name = std::move(name), .value = std::move(value)});
  return *this;
}

SessionOptions& SessionOptions::add_external_initializers(std::vector<NamedValue> initializers) {
  for (NamedValue& given : initializers) {
    initializers_.push_back({.name = std::move(given.name),
                             .value = std::move(given.value),
                             .replaces_external = true});
  }
  return *this;
}

SessionOptions& SessionOptions::add_external_initializers_from_files_in_memory(
    std::vector<FileInMemory> files) {
  for (FileInMemory& file : files) files_in_memory_.push_back(std::move(file));
  return *this;
}

SessionOptions& SessionOptions::enable_mem_pattern(bool enable) {
  mem_pattern_ = enable;
  return *this;
}

SessionOptions& SessionOptions::enable_mem_reuse(bool enable) {
  mem_reuse_ = enable;
  return *this;
}

SessionOptions& SessionOptions::set_execution_mode(ExecutionMode mode) {
  return add_config_entry("session.execution_mode",
                          mode == ExecutionMode::kParallel ? "parallel" : "sequential");
}

SessionOptions& SessionOptions::set_inter_op_num_threads(uint32_t threads) {
  return add_config_entry("session.inter_op_num_threads", std::to_string(threads));
}

SessionOptions& SessionOptions::set_intra_op_num_threads(uint32_t threads) {
  return add_config_entry("session.intra_op_num_threads", std::to_string(threads));
}

SessionOptions& SessionOptions::enable_profiling(const std::filesystem::path& file) {
  return add_config_entry("session.profile_file", file.string());
}

SessionOptions& SessionOptions::set_optimized_model_file_path(const std::filesystem::path& file) {
  return add_config_entry("session.optimized_model_file_path", file.string());
}

SessionOptions& SessionOptions::set_log_id(std::string id) {
  log_id_ = std::move(id);
  return *this;
}

SessionOptions& SessionOptions::set_log_severity_level(LoggingLevel level) {
  log_level_ = level;
  return *this;
}

SessionOptions& SessionOptions::set_ep_context_data_read_func(EpContextDataReadFunction read) {
  read_context_data_ = std::move(read);
  return *this;
}

SessionOptions& SessionOptions::set_progress_func(ProgressFunction progress) {
  progress_ = std::move(progress);
  return *this;
}

SessionOptions& SessionOptions::set_load_cancellation_flag(const std::atomic<bool>* cancelled) {
  cancelled_ = cancelled;
  return *this;
}

SessionOptions& SessionOptions::add_input_file(std::filesystem::path file) {
  inputs_.push_back(std::move(file));
  return *this;
}

SessionOptions& SessionOptions::add_output_file(std::filesystem::path file) {
  outputs_.push_back(std::move(file));
  return *this;
}

Status SessionOptions::load_selection(const std::filesystem::path& file) {
  EPHOST_ASSIGN_OR_RETURN(manifest::Selection selection, manifest::load_selection(file));
  for (manifest::ProviderChoice& choice : selection.providers) {
    append_execution_provider({.name = std::move(choice.name),
                               .version_range = choice.version.to_string(),
                               .options = std::move(choice.options),
                               .devices = std::move(choice.devices)});
  }
  for (auto& [key, value] : selection.session_entries) {
    add_config_entry(std::move(key), std::move(value));
  }
  add_input_file(file);
  return Status::ok_status();
}

std::optional<std::string_view> SessionOptions::config_entry(std::string_view key) const {
  for (const auto& [known, text] : entries_) {
    if (known == key) return text;
  }
  return std::nullopt;
}

}  // namespace ephost
