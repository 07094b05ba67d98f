#include "host/cli/flags.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/cli/layers.h"
#include "host/cli/metrics_file.h"
#include "host/cli/on_crash.h"
#include "host/trust/policy.h"

namespace ephost::cli {

namespace {

constexpr const char* kSessionGroup = "Session";
constexpr const char* kReportGroup = "Report";
constexpr const char* kRunGroup = "Run";

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

// An argument NAME=SIZE. A name may contain "=".
std::optional<std::pair<std::string, int64_t>> parse_dimension(std::string_view text) {
  const size_t at = text.rfind('=');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  int64_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, size);
  if (error != std::errc() || stop != end || size < 0) return std::nullopt;
  return std::pair(std::string(text.substr(0, at)), size);
}

Argument add_dimension_option(ArgumentParser& app, const std::string& name,
                              std::vector<std::string>& values, const std::string& help,
                              const std::string& type_name) {
  const auto check = [type_name](const std::string& text) -> std::string {
    if (parse_dimension(text)) return "";
    return formatted("{} is not of the form {} with a whole number of at least 0", quote(text),
                     type_name);
  };
  return app.add(name, values, help).type_name(type_name).repeatable().check(check);
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

}  // namespace

void add_report_flags(ArgumentParser& app, ReportFlags& flags,
                      const std::vector<std::string>& formats) {
  flags.format = formats.front();
  app.add("--format", flags.format, "Format of the report")
      .one_of(formats)
      .show_default()
      .group(kReportGroup);
  Argument verbose =
      app.add_flag("-v,--verbose", flags.verbose, "Show more details and log progress");
  Argument quiet =
      app.add_flag("-q,--quiet", flags.quiet, "Print nothing but errors and what was asked for");
  verbose.group(kReportGroup);
  quiet.group(kReportGroup).excludes(verbose);
  app.add("--log-format", flags.log_format,
          "How messages are written to standard error: as lines of text, or of JSON")
      .one_of({"text", "json"})
      .group(kReportGroup);
}

void add_environment_flags(ArgumentParser& app, EnvironmentFlags& flags) {
  app.add("--plugin-path", flags.plugin_paths,
          "Search this directory for plugins first (repeatable)")
      .type_name("DIR")
      .repeatable()
      .group(kSessionGroup);
  app.add_flag("--allow-writable-plugins", flags.allow_writable_plugins,
               "Use plugins, selections and cache stores also where other users can change them "
               "(containers)")
      .group(kSessionGroup);
  app.add("--signatures", flags.signatures,
          "What becomes of plugins and context models without a valid signature: off, warn or "
          "require; stricter policies of the machine or of EPHOST_SIGNATURES count all the same")
      .type_name("POLICY")
      .one_of({"off", "warn", "require"})
      .group(kSessionGroup);
  app.add("--call-warning", flags.call_warning_seconds,
          "Warn when a call into a plugin takes longer than this; 0: never")
      .type_name("SECONDS")
      .in_range(0, 1e6)
      .show_default()
      .group(kSessionGroup);
  app.add_flag("--no-crash-handler", flags.no_crash_handler,
               "Do not report which plugin was running when the process crashes")
      .group(kSessionGroup);
}

void add_session_flags(ArgumentParser& app, SessionFlags& flags) {
  add_environment_flags(app, flags.environment);
  add_selection_flags(app, flags.selection);
  app.add("-e,--ep", flags.providers,
          "Provider to ask, in order of priority; the CPU provider is always last (repeatable)")
      .type_name("NAME")
      .repeatable()
      .group(kSessionGroup);
  add_pair_option(app, "--ep-option", flags.provider_options, "Option of a provider (repeatable)",
                  "NAME:KEY=VALUE", ':')
      .group(kSessionGroup);
  app.add("--device", flags.devices,
          "Device that the provider shall use: an id, a type (npu) or a type and number (gpu:1) "
          "(repeatable; see \"ephost devices\")")
      .type_name("[NAME:]DEVICE")
      .repeatable()
      .group(kSessionGroup);
  app.add("--policy", flags.policy,
          "Choose providers and devices by a policy of ONNX Runtime, e.g. PREFER_NPU")
      .type_name("POLICY")
      .group(kSessionGroup);
  add_pair_option(app, "--config", flags.config, "Session configuration entry (repeatable)",
                  "KEY=VALUE")
      .group(kSessionGroup);
  add_dimension_option(app, "--dim", flags.dimensions,
                       "Size of a dimension that the model leaves open: batch=1 (repeatable)",
                       "NAME=SIZE")
      .group(kSessionGroup);
  add_dimension_option(app, "--dim-denotation", flags.dimension_denotations,
                       "Size of the inputs' dimensions with a denotation: DATA_BATCH=1 "
                       "(repeatable)",
                       "DENOTATION=SIZE")
      .group(kSessionGroup);
  app.add("--shape-profile", flags.shapes,
          "Shapes that inputs with open dimensions will have, for providers that want them fixed: "
          "batch=1:8:32,seq=128, with the least, best and greatest size (repeatable)")
      .type_name("PROFILE")
      .repeatable()
      .group(kSessionGroup);
  app.add("--optimization-level", flags.optimization_level,
          "Which optimizations to apply: disable_all, basic, extended, all [all]")
      .type_name("LEVEL")
      .group(kSessionGroup);
  app.add("--disable-optimizer", flags.disabled_optimizers,
          "Skip this optimization pass (repeatable)")
      .type_name("NAME")
      .repeatable()
      .group(kSessionGroup);
  app.add(
         "--isolation", flags.isolation,
         "Run plugins, or the one of PROVIDER, in worker processes: worker, or sandbox, which also "
         "limits what they may use; or none (repeatable) [EPHOST_ISOLATION]")
      .type_name("[PROVIDER=]LEVEL")
      .repeatable()
      .group(kSessionGroup);
  app.add(
         "--on-crash", flags.on_crash,
         "What follows when the worker process of a plugin, or of the one of PROVIDER, dies: fail, "
         "restart or fallback to the next providers (repeatable) [fail]")
      .type_name("[PROVIDER=]POLICY")
      .repeatable()
      .group(kSessionGroup);
  app.add("--layer", flags.layers,
          "Put this layer between host and providers: trace, validate, regroup, or one of a plugin "
          "(repeatable, the first one nearest to the host) [EPHOST_LAYERS]")
      .type_name("NAME")
      .repeatable()
      .group(kSessionGroup);
  app.add("--trace-file", flags.trace_file,
          "Append the lines of the layer trace to this file [standard error]; adds the layer")
      .type_name("FILE")
      .group(kSessionGroup);
  app.add("--trace-format", flags.trace_format, "Form of these lines")
      .one_of({"text", "json"})
      .group(kSessionGroup);
  app.add_flag("--trace-until-crash", flags.trace_until_crash,
               "Write each line of the trace at once; adds the layer")
      .group(kSessionGroup);
  app.add_flag("--no-mem-pattern", flags.no_mem_pattern,
               "Do not plan memory; allocate each value when it is computed")
      .group(kSessionGroup);
  app.add_flag("--no-mem-reuse", flags.no_mem_reuse, "Give each value memory of its own")
      .group(kSessionGroup);
}

void add_cache_flag(ArgumentParser& app, SessionFlags& flags) {
  flags.default_cache_dir = default_cache_dir();
  app.add("--cache-dir", flags.cache_dir,
          "Cache store for what providers compile, looked up before compiling [EPHOST_CACHE_DIR]")
      .type_name("DIR")
      .group(kSessionGroup);
}

void add_execution_flags(ArgumentParser& app, SessionFlags& flags) {
  app.add("--execution-mode", flags.execution_mode,
          "Run independent steps one after the other, or in parallel")
      .one_of({"sequential", "parallel"})
      .group(kSessionGroup);
  app.add("--inter-op-threads", flags.inter_op_threads,
          "Maximum number of threads for the steps of one run in parallel mode; 0: one per "
          "processor")
      .type_name("N")
      .group(kSessionGroup);
  app.add("--intra-op-threads", flags.intra_op_threads,
          "Maximum number of threads for one step; 0: one per processor")
      .type_name("N")
      .group(kSessionGroup);
}

void add_profile_flag(ArgumentParser& app, SessionFlags& flags) {
  app.add("--profile", flags.profile,
          "Write the timing of phases and steps to this file, as a Chrome trace (JSON)")
      .type_name("FILE")
      .group(kSessionGroup);
}

void add_metrics_flag(ArgumentParser& app, EnvironmentFlags& flags) {
  app.add("--metrics-file", flags.metrics_file,
          "Write what was counted to this file in the end, in Prometheus' text format")
      .type_name("FILE")
      .group(kReportGroup);
}

void add_run_flags(ArgumentParser& app, RunFlags& flags) {
  const auto check = [](const std::string& text) -> std::string {
    const auto [name, entry] = split_pair(text, ':');
    const auto [key, value] = split_pair(entry);
    const bool has_value = entry.find('=') != std::string::npos;
    if (!name.empty() && !key.empty() && has_value) return "";
    return formatted("{} is not of the form NAME:KEY=VALUE", quote(text));
  };
  app.add("--run-option", flags.options, "Option of a provider for each run (repeatable)")
      .type_name("NAME:KEY=VALUE")
      .repeatable()
      .check(check)
      .group(kRunGroup);
  app.add("--deadline", flags.deadline_seconds, "End a run that takes longer than this")
      .type_name("SECONDS")
      .in_range(0, 1e9)
      .group(kRunGroup);
  app.add("--tag", flags.tag, "Name of the runs, for providers and in the profile")
      .type_name("TEXT")
      .group(kRunGroup);
}

Argument add_pair_option(ArgumentParser& app, const std::string& name,
                         std::vector<std::string>& values, const std::string& help,
                         const std::string& type_name, char separator) {
  const auto check = [separator, type_name](const std::string& text) -> std::string {
    const size_t at = text.find(separator);
    if (at != std::string::npos && at > 0) return "";
    return formatted("{} is not of the form {}", quote(text), type_name);
  };
  return app.add(name, values, help).type_name(type_name).repeatable().check(check);
}

std::pair<std::string, std::string> split_pair(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

void apply(const ReportFlags& flags) {
  if (flags.verbose) set_log_level(LoggingLevel::kInfo);
  if (flags.quiet) set_log_level(LoggingLevel::kError);
  if (!flags.log_format.empty()) {
    set_log_format(flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  }
  // What belongs to no environment goes to the library's own log, which reads these variables with
  // its first message.
  ::setenv("EPHOST_LOG_LEVEL", std::string(logging_level_name(log_level())).c_str(), 1);
  ::setenv("EPHOST_LOG_FORMAT", log_format() == LogFormat::kJson ? "json" : "text", 1);
}

void apply(const EnvironmentFlags& flags) {
  if (flags.allow_writable_plugins) ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
}

Result<Environment> open_environment(const EnvironmentFlags& flags) {
  apply(flags);
  EnvironmentOptions options;
  options.plugin_directories = flags.plugin_paths;
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
