#include "host/cli/options/options.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/cli/arguments/layers.h"
#include "host/cli/options/metrics_file.h"
#include "host/cli/options/on_crash.h"
#include "host/trust/policy.h"

namespace ephost::cli {
namespace {

// The request for a provider; null if it was not asked for.
ProviderRequest* find_request(std::vector<ProviderRequest>& requests, const std::string& name,
                              const Environment& environment) {
  const std::string provider = provider_behind(name, environment);
  const auto found = std::ranges::find_if(requests, [&](const ProviderRequest& request) {
    return provider_behind(request.name, environment) == provider;
  });
  return found == requests.end() ? nullptr : &*found;
}

// Adds the device to the request that it is for. An id may contain a colon, so text before one only
// counts as a provider if that was asked for.
Status add_device(std::vector<ProviderRequest>& requests, const std::string& argument,
                  const Environment& environment) {
  const auto [name, device] = split_pair(argument, ':');
  ProviderRequest* request = device.empty() ? nullptr : find_request(requests, name, environment);
  if (request != nullptr) {
    request->devices.push_back(device);
    return Status::ok_status();
  }
  if (requests.size() == 1) {
    requests.front().devices.push_back(argument);
    return Status::ok_status();
  }
  return Status(
      StatusCode::kInvalidArgument,
      formatted("--device {} does not say for which provider it is, and {}; write "
                "NAME:DEVICE with the NAME of an --ep",
                quote(argument), requests.empty() ? "none is asked for" : "several are asked for"));
}

Status add_provider_option(std::vector<ProviderRequest>& requests, const std::string& argument,
                           const Environment& environment) {
  const auto [name, entry] = split_pair(argument, ':');
  const auto [key, value] = split_pair(entry);
  if (key.empty() || entry.find('=') == std::string::npos) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("--ep-option {} has no value; write NAME:key=value", quote(argument)));
  }
  ProviderRequest* request = find_request(requests, name, environment);
  if (request == nullptr) {
    if (provider_behind(name, environment) != kCpuProvider) {
      std::vector<std::string_view> asked;
      for (const ProviderRequest& one : requests) asked.push_back(one.name);
      const auto nearest = nearest_match(name, asked);
      return Status(
          StatusCode::kInvalidArgument,
          formatted("--ep-option {} is for a provider that is not asked for; {}", quote(argument),
                    nearest ? formatted("did you mean {}?", *nearest) : "add --ep " + name));
    }
    request = &requests.emplace_back(ProviderRequest{.name = std::string(kCpuProvider)});
  }
  const auto given =
      std::ranges::find(request->options, key, &std::pair<std::string, std::string>::first);
  if (given != request->options.end()) {
    given->second = value;  // the command line overrides the selection file
  } else {
    request->options.emplace_back(key, value);
  }
  return Status::ok_status();
}

// The arguments of --dim or --dim-denotation by name.
Result<std::map<std::string, int64_t>> sizes_of(const std::vector<std::string>& arguments,
                                                std::string_view flag) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& argument : arguments) {
    const auto dimension = parse_dimension(argument);
    if (!dimension) continue;  // was refused as a usage error
    const int64_t known = sizes.insert(*dimension).first->second;
    if (known == dimension->second) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} gives {} the sizes {} and {}; give one of them", flag,
                            quote(dimension->first), known, dimension->second));
  }
  return sizes;
}

Status add_dimensions(const SessionFlags& flags, SessionOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(const auto by_name, sizes_of(flags.dimensions, "--dim"));
  for (const auto& [name, size] : by_name) {
    options.add_free_dimension_override_by_name(name, size);
  }
  EPHOST_ASSIGN_OR_RETURN(const auto by_denotation,
                          sizes_of(flags.dimension_denotations, "--dim-denotation"));
  for (const auto& [denotation, size] : by_denotation) {
    options.add_free_dimension_override_by_denotation(denotation, size);
  }
  return Status::ok_status();
}

// The entries that WORD and PROVIDER=WORD stand for.
OptionList entries_of(const std::string& key, const std::vector<std::string>& given) {
  OptionList entries;
  for (const std::string& one : given) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos) {
      entries.emplace_back(key, one);
    } else {
      entries.emplace_back(key + "." + one.substr(0, equals), one.substr(equals + 1));
    }
  }
  return entries;
}

// The options of the layer trace ask for it, too.
void add_layer_flags(const SessionFlags& flags, SessionOptions& options) {
  add_layers(flags.layers, options);
  if (!flags.trace_file.empty() || flags.trace_until_crash) add_trace(options);
  if (!flags.trace_file.empty()) {
    options.add_config_entry("session.trace.file", flags.trace_file.string());
    options.add_output_file(flags.trace_file);
  }
  if (!flags.trace_format.empty()) {
    options.add_config_entry("session.trace.format", flags.trace_format);
  }
  if (flags.trace_until_crash) options.add_config_entry("session.trace.until_crash", "1");
}

}  // namespace

Result<Environment> open_environment(const EnvironmentFlags& flags) {
  apply(flags);
  EnvironmentOptions options;
  options.plugin_directories.assign(flags.plugin_paths.begin(), flags.plugin_paths.end());
  options.call_warning = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(flags.call_warning_seconds));
  options.crash_handler = !flags.no_crash_handler;
  options.signatures =
      trust::parse_signature_policy(flags.signatures).value_or(SignaturePolicy::kOff);
  options.log_severity_level = log_level();  // as the command's own messages
  if (flags.metrics_file.empty()) return Environment::create(options);
  EPHOST_RETURN_IF_ERROR(check_metrics_file(flags.metrics_file));
  options.metrics = true;
  EPHOST_ASSIGN_OR_RETURN(Environment environment, Environment::create(options));
  *flags.opened = environment;
  return environment;
}

std::string provider_behind(const std::string& name, const Environment& environment) {
  for (const InstalledPlugin& plugin : environment.plugins()) {
    if (plugin.provider.empty()) continue;  // a layer
    if (equal_ignoring_case(plugin.provider, name) || equal_ignoring_case(plugin.name, name))
      return plugin.provider;
  }
  return equal_ignoring_case(name, "cpu") ? std::string(kCpuProvider) : name;
}

SelectionFile selection_of(const SessionFlags& flags) {
  const bool is_stated = !flags.providers.empty() || !flags.policy.empty();
  if (is_stated && flags.selection.file.empty()) return {};
  return find_selection(flags.selection);
}

Result<SessionOptions> read_selection(const SelectionFile& selection) {
  SessionOptions options;
  if (selection.path.empty()) return options;
  Status status = options.load_selection(selection.path);
  if (status.ok()) return options;
  if (selection.origin == "given") return status;
  return std::move(status).with_context(
      formatted("reading the selection that is used by default ({}; --no-selection does without)",
                selection.origin));
}

Result<SessionOptions> make_session_options(const SessionFlags& flags,
                                            const Environment& environment) {
  const SelectionFile selection = selection_of(flags);
  EPHOST_ASSIGN_OR_RETURN(const SessionOptions selected, read_selection(selection));
  std::vector<ProviderRequest> requests = selected.providers();
  for (const std::string& name : flags.providers) requests.push_back({.name = name});
  for (const std::string& option : flags.provider_options) {
    EPHOST_RETURN_IF_ERROR(add_provider_option(requests, option, environment));
  }
  // The command line overrides the selection file.
  if (!flags.devices.empty()) {
    for (ProviderRequest& request : requests) request.devices.clear();
  }
  for (const std::string& device : flags.devices) {
    EPHOST_RETURN_IF_ERROR(add_device(requests, device, environment));
  }
  SessionOptions options;
  if (!selection.path.empty()) options.add_input_file(selection.path);
  if (!flags.environment.metrics_file.empty()) {
    options.add_output_file(flags.environment.metrics_file);
  }
  for (const ProviderRequest& request : requests) {
    options.append_execution_provider(request);
  }
  if (!flags.policy.empty()) {
    EPHOST_ASSIGN_OR_RETURN(const EpDevicePolicy policy, parse_ep_device_policy(flags.policy));
    options.set_ep_selection_policy(policy);
  }
  for (const auto& [key, value] : selected.config_entries()) options.add_config_entry(key, value);
  for (const std::string& entry : flags.config) {
    const auto [key, value] = split_pair(entry);
    add_entry(key, value, environment, options);
  }
  EPHOST_RETURN_IF_ERROR(add_dimensions(flags, options));
  if (!flags.shapes.empty()) {
    options.add_config_entry("session.shapes.profiles", join(flags.shapes, ";"));
  }
  if (!flags.optimization_level.empty()) {
    options.add_config_entry("session.graph_optimization_level", flags.optimization_level);
  }
  if (!flags.disabled_optimizers.empty()) {
    options.add_config_entry("optimization.disable_specified_optimizers",
                             join(flags.disabled_optimizers, ";"));
  }
  if (!flags.execution_mode.empty()) {
    options.add_config_entry("session.execution_mode", flags.execution_mode);
  }
  if (flags.inter_op_threads) options.set_inter_op_num_threads(*flags.inter_op_threads);
  if (flags.intra_op_threads) options.set_intra_op_num_threads(*flags.intra_op_threads);
  if (!flags.profile.empty()) options.enable_profiling(flags.profile);
  if (!flags.cache_dir.empty()) {
    options.add_config_entry("ep.cache_dir", flags.cache_dir.string());
  } else if (!flags.default_cache_dir.empty() && !options.config_entry("ep.cache_dir")) {
    options.add_config_entry("ep.cache_dir", flags.default_cache_dir.string());
  }
  for (const auto& [key, word] : entries_of("session.isolation", flags.isolation)) {
    options.add_config_entry(key, word);
  }
  for (const auto& [key, word] : entries_of("session.on_crash", flags.on_crash)) {
    add_entry(key, word, environment, options);
  }
  add_layer_flags(flags, options);
  options.enable_mem_pattern(!flags.no_mem_pattern).enable_mem_reuse(!flags.no_mem_reuse);
  return options;
}

std::vector<std::string> asked_providers(const Environment& environment, const SessionFlags& flags,
                                         const SessionOptions& options) {
  std::vector<std::string> asked;
  if (flags.providers.empty() && flags.selection.file.empty()) return asked;
  for (const ProviderRequest& request : options.providers()) {
    asked.push_back(provider_behind(request.name, environment));
  }
  return asked;
}

RunOptions make_run_options(const RunFlags& flags) {
  RunOptions options;
  options.tag = flags.tag;
  for (const std::string& option : flags.options) {
    const auto [name, entry] = split_pair(option, ':');
    auto [key, value] = split_pair(entry);
    options.add_config_entry(formatted("ep.{}.{}", name, key), std::move(value));
  }
  if (flags.deadline_seconds) {
    options.set_timeout(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(*flags.deadline_seconds)));
  }
  return options;
}

}  // namespace ephost::cli
