#include <array>
#include <span>
#include <string>
#include <vector>

#include "host/api/handles.h"
#include "host/api/key_values.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/session/config/config_entries.h"
#include "host/session/config/session_config.h"

namespace ephost::api {
namespace {

using session::GivenOptions;

ephost_status* create(ephost_session_options** out_options) {
  *out_options = nullptr;
  return guarded("creating session options", [&]() -> Status {
    *out_options = new ephost_session_options;
    return {};
  });
}

ephost_status* clone(const ephost_session_options* options, ephost_session_options** out_options) {
  *out_options = nullptr;
  return guarded("copying session options", [&]() -> Status {
    *out_options = new ephost_session_options(*options);
    return {};
  });
}

void release(ephost_session_options* options) { delete options; }

// Calls `change(options)`, which returns nothing.
template <class Change>
ephost_status* change(ephost_session_options* options, const Change& how) {
  return guarded("setting a session option", [&]() -> Status {
    how(options->options);
    return {};
  });
}

ephost_status* set_entry(ephost_session_options* options, std::string_view key,
                         std::string_view value) {
  return change(options,
                [&](GivenOptions& of) { of.set_entry(std::string(key), std::string(value)); });
}
ephost_status* set_entry(ephost_session_options* options, std::string_view key, int64_t value) {
  return set_entry(options, key, std::to_string(value));
}

// The enumerator of a number; INVALID_ARGUMENT for a number that is not below `count`.
template <class Enumeration>
Result<Enumeration> enumerator(int32_t number, int32_t count, std::string_view what) {
  if (number >= 0 && number < count) return static_cast<Enumeration>(number);
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is no {}; pass a number of 0 to {}", number, what, count - 1));
}

ephost_status* add_config_entry(ephost_session_options* options, const char* key,
                                const char* value) {
  return set_entry(options, key, value);
}

ephost_status* info(const ephost_session_options* options,
                    const ephost_session_options_info** out_report) {
  *out_report = nullptr;
  return guarded("describing session options", [&]() -> Status {
    *out_report = new_report<ephost_session_options_info>([&](Arena& arena, auto& report) {
      arena.list(options->options.entries, report.config_entries, report.config_entry_count);
      arena.list(options->options.providers, report.providers, report.provider_count);
    });
    return {};
  });
}

const char* get_config_entry(const ephost_session_options* options, const char* key) {
  // Views of entries end with a zero: they are whole strings.
  const std::optional<std::string_view> value = options->options.entry(key);
  return value ? value->data() : nullptr;
}

ephost_status* append_execution_provider(ephost_session_options* options,
                                         const ephost_provider_request* request) {
  return guarded("appending a provider", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(request, "ephost_provider_request"));
    const ephost_provider_request given = adopt_record(request);
    ProviderRequest adopted = {.name = text_of(given.name),
                               .version_range = text_of(given.version_range),
                               .options = to_list(given.options, given.option_count)};
    for (const char* device : std::span(given.devices, given.device_count)) {
      adopted.devices.emplace_back(device);
    }
    options->options.providers.push_back(std::move(adopted));
    return {};
  });
}

ephost_status* append_execution_provider_v2(ephost_session_options* options,
                                            const ephost_device* const* devices,
                                            uint64_t device_count,
                                            const ephost_key_value* provider_options,
                                            uint64_t provider_option_count) {
  return guarded("appending a provider", [&]() -> Status {
    std::vector<EpDevice> wanted;
    for (const ephost_device* device : std::span(devices, device_count)) {
      EPHOST_RETURN_IF_ERROR(check_record(device, "ephost_device"));
      wanted.push_back(detail::read_record<EpDevice>(*device));
    }
    return options->options.append_devices(wanted,
                                           to_list(provider_options, provider_option_count));
  });
}

ephost_status* set_ep_selection_policy(ephost_session_options* options, int32_t policy) {
  return guarded("setting a policy", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const auto known, enumerator<EpDevicePolicy>(policy, 7, "policy"));
    options->options.policy = known;
    return {};
  });
}

ephost_status* load_selection(ephost_session_options* options, const char* file) {
  return guarded("reading a selection file", [&] { return options->options.load_selection(file); });
}

ephost_status* set_graph_optimization_level(ephost_session_options* options, int32_t level) {
  return guarded("setting the optimization level", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(
        const auto known, enumerator<GraphOptimizationLevel>(level, 4, "graph optimization level"));
    constexpr std::array<const char*, 4> kLevels = {"disable_all", "basic", "extended", "all"};
    options->options.set_entry("session.graph_optimization_level",
                               kLevels[static_cast<size_t>(known)]);
    return {};
  });
}

ephost_status* enable_mem_pattern(ephost_session_options* options, int32_t enable) {
  return change(options, [&](GivenOptions& of) { of.mem_pattern = enable != 0; });
}

ephost_status* enable_mem_reuse(ephost_session_options* options, int32_t enable) {
  return change(options, [&](GivenOptions& of) { of.mem_reuse = enable != 0; });
}

ephost_status* set_execution_mode(ephost_session_options* options, int32_t mode) {
  return guarded("setting the execution mode", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const auto known, enumerator<ExecutionMode>(mode, 2, "execution mode"));
    options->options.set_entry("session.execution_mode",
                               known == ExecutionMode::kParallel ? "parallel" : "sequential");
    return {};
  });
}

ephost_status* set_inter_op_num_threads(ephost_session_options* options, uint32_t threads) {
  return set_entry(options, "session.inter_op_num_threads", threads);
}

ephost_status* set_intra_op_num_threads(ephost_session_options* options, uint32_t threads) {
  return set_entry(options, "session.intra_op_num_threads", threads);
}

ephost_status* enable_profiling(ephost_session_options* options, const char* file) {
  return set_entry(options, "session.profile_file", view_of(file));
}

ephost_status* set_ep_context_data_read_func(ephost_session_options* options,
                                             ephost_read_context_data read, void* context) {
  return change(options, [&](GivenOptions& of) {
    of.read_context_data = {};
    if (read == nullptr) return;
    of.read_context_data = [=](std::string_view name) -> Result<EpContextData> {
      ephost_context_data data = {};
      data.struct_size = sizeof(data);
      EPHOST_RETURN_IF_ERROR(from_c(read(context, std::string(name).c_str(), &data)));
      EpContextData given;
      given.bytes = {static_cast<const std::byte*>(data.data), data.size};
      if (data.release != nullptr) given.owner = std::shared_ptr<void>(data.owner, data.release);
      return given;
    };
  });
}

ephost_status* set_progress_func(ephost_session_options* options, ephost_progress progress,
                                 void* context) {
  return change(options, [&](GivenOptions& of) {
    of.progress = {};
    if (progress == nullptr) return;
    of.progress = [=](std::string_view provider, double fraction, std::string_view message) {
      progress(context, std::string(provider).c_str(), fraction, std::string(message).c_str());
    };
  });
}

ephost_status* set_load_cancellation_flag(ephost_session_options* options, const void* flag) {
  return change(options, [&](GivenOptions& of) {
    of.cancelled = static_cast<const std::atomic<bool>*>(flag);
  });
}

ephost_status* add_free_dimension_override_by_name(ephost_session_options* options,
                                                   const char* name, int64_t size) {
  return change(options, [&](GivenOptions& of) {
    of.set_entry(std::string(session::kDimensionByNamePrefix) + name, std::to_string(size));
  });
}

ephost_status* add_free_dimension_override_by_denotation(ephost_session_options* options,
                                                         const char* denotation, int64_t size) {
  return change(options, [&](GivenOptions& of) {
    of.set_entry(std::string(session::kDimensionByDenotationPrefix) + ascii_lower(denotation),
                 std::to_string(size));
  });
}

ephost_status* add_initializer(ephost_session_options* options, const char* name,
                               const ephost_value* value) {
  return change(options, [&](GivenOptions& of) {
    of.initializers.push_back({.name = name, .value = value->value});
  });
}

ephost_status* add_external_initializers(ephost_session_options* options, const char* const* names,
                                         const ephost_value* const* values, uint64_t count) {
  return change(options, [&](GivenOptions& of) {
    for (uint64_t i = 0; i < count; ++i) {
      of.initializers.push_back(
          {.name = names[i], .value = values[i]->value, .replaces_external = true});
    }
  });
}

ephost_status* add_external_initializers_from_files_in_memory(ephost_session_options* options,
                                                              const char* const* names,
                                                              const void* const* buffers,
                                                              const uint64_t* sizes,
                                                              uint64_t count) {
  return change(options, [&](GivenOptions& of) {
    for (uint64_t i = 0; i < count; ++i) {
      of.files_in_memory.push_back(
          {names[i], {static_cast<const std::byte*>(buffers[i]), sizes[i]}});
    }
  });
}

ephost_status* set_optimized_model_file_path(ephost_session_options* options, const char* file) {
  return set_entry(options, "session.optimized_model_file_path", view_of(file));
}

ephost_status* set_log_id(ephost_session_options* options, const char* id) {
  return change(options, [&](GivenOptions& of) { of.log_id = text_of(id); });
}

ephost_status* set_log_severity_level(ephost_session_options* options, int32_t severity) {
  return guarded("setting the severity of messages", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const auto known, enumerator<LoggingLevel>(severity, 5, "severity"));
    options->options.log_level = known;
    return {};
  });
}

ephost_status* add_input_file(ephost_session_options* options, const char* file) {
  return change(options, [&](GivenOptions& of) { of.input_files.emplace_back(file); });
}

ephost_status* add_output_file(ephost_session_options* options, const char* file) {
  return change(options, [&](GivenOptions& of) { of.output_files.emplace_back(file); });
}

ephost_status* known_config_entries(const ephost_config_entry_list** out_list) {
  *out_list = nullptr;
  return guarded("listing configuration entries", [&]() -> Status {
    *out_list = new_report<ephost_config_entry_list>([&](Arena& arena, auto& list) {
      arena.list(session::known_config_entries(), list.entries, list.entry_count);
    });
    return {};
  });
}

}  // namespace

const ephost_session_options_api kSessionOptionsApi = {
    sizeof(ephost_session_options_api),
    create,
    clone,
    release,
    add_config_entry,
    info,
    get_config_entry,
    append_execution_provider,
    append_execution_provider_v2,
    set_ep_selection_policy,
    load_selection,
    set_graph_optimization_level,
    enable_mem_pattern,
    enable_mem_reuse,
    set_execution_mode,
    set_inter_op_num_threads,
    set_intra_op_num_threads,
    enable_profiling,
    set_ep_context_data_read_func,
    set_progress_func,
    set_load_cancellation_flag,
    add_free_dimension_override_by_name,
    add_free_dimension_override_by_denotation,
    add_initializer,
    add_external_initializers,
    add_external_initializers_from_files_in_memory,
    set_optimized_model_file_path,
    set_log_id,
    set_log_severity_level,
    add_input_file,
    add_output_file,
    known_config_entries,
};

}  // namespace ephost::api
