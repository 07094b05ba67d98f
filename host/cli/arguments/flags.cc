#include "host/cli/arguments/flags.h"

#include <charconv>
#include <cstdlib>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace ephost::cli {
namespace {

constexpr const char* kSessionGroup = "Session";
constexpr const char* kReportGroup = "Report";
constexpr const char* kRunGroup = "Run";

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
          "Device that the provider is to use: an id, a type (npu) or a type and number (gpu:1) "
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

std::optional<std::pair<std::string, int64_t>> parse_dimension(std::string_view text) {
  const size_t at = text.rfind('=');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  int64_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, size);
  if (error != std::errc() || stop != end || size < 0) return std::nullopt;
  return std::pair(std::string(text.substr(0, at)), size);
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

}  // namespace ephost::cli
