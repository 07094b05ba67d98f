// The options that several subcommands share. Each command declares the groups that it needs, and
// options.h says what they become.
#pragma once

#include <ephost/environment.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cli/arguments/argument_parser.h"
#include "host/cli/arguments/defaults.h"

namespace ephost::cli {

struct ReportFlags {
  std::string format = "table";
  bool verbose = false;
  bool quiet = false;
  std::string log_format;  // empty: as the environment variable EPHOST_LOG_FORMAT says

  [[nodiscard]] bool json() const { return format == "json"; }
  // On standard error, if that is a terminal.
  [[nodiscard]] bool shows_progress() const { return !quiet && !json(); }
};

struct EnvironmentFlags {
  std::vector<std::filesystem::path> plugin_paths;
  double call_warning_seconds = 10;
  bool no_crash_handler = false;
  bool allow_writable_plugins = false;
  std::string signatures;  // empty: nothing is asked for
  std::filesystem::path metrics_file;
  // Where open_environment leaves the environment whose metrics are written in the end.
  std::shared_ptr<std::optional<Environment>> opened =
      std::make_shared<std::optional<Environment>>();
};

struct SessionFlags {
  EnvironmentFlags environment;
  SelectionFlags selection;
  std::vector<std::string> providers;
  std::vector<std::string> provider_options;  // NAME:key=value
  std::vector<std::string> devices;           // [NAME:]device
  std::string policy;
  std::vector<std::string> config;                 // key=value
  std::vector<std::string> dimensions;             // name=size
  std::vector<std::string> dimension_denotations;  // denotation=size
  std::vector<std::string> shapes;                 // profiles: name=least:best:greatest,...
  std::string optimization_level;
  std::vector<std::string> disabled_optimizers;
  bool no_mem_pattern = false;
  bool no_mem_reuse = false;
  std::filesystem::path cache_dir;
  std::filesystem::path default_cache_dir;  // where nothing else sets one
  std::string execution_mode;
  std::optional<uint32_t> inter_op_threads;
  std::optional<uint32_t> intra_op_threads;
  std::filesystem::path profile;
  std::vector<std::string> isolation;  // LEVEL or PROVIDER=LEVEL
  std::vector<std::string> on_crash;   // POLICY or PROVIDER=POLICY
  std::vector<std::string> layers;
  std::filesystem::path trace_file;
  std::string trace_format;
  bool trace_until_crash = false;
};

struct RunFlags {
  std::vector<std::string> options;  // NAME:key=value
  std::optional<double> deadline_seconds;
  std::string tag;
};

// --format, --verbose, --quiet, --log-format. `formats` lists the formats of the command, the
// default first.
void add_report_flags(ArgumentParser& app, ReportFlags& flags,
                      const std::vector<std::string>& formats = {"table", "json"});
// --plugin-path, --allow-writable-plugins, --signatures, --call-warning, --no-crash-handler.
void add_environment_flags(ArgumentParser& app, EnvironmentFlags& flags);
// --selection, --no-selection, --ep, --ep-option, --device, --policy, --config, --dim,
// --dim-denotation,
// --shape-profile, --optimization-level, --disable-optimizer, --no-mem-pattern, --no-mem-reuse, and
// those of the environment.
void add_session_flags(ArgumentParser& app, SessionFlags& flags);

// --execution-mode, --inter-op-threads, --intra-op-threads: how a session runs.
void add_execution_flags(ArgumentParser& app, SessionFlags& flags);
// --profile.
void add_profile_flag(ArgumentParser& app, SessionFlags& flags);

// --metrics-file; the command runs in with_metrics_file (metrics_file.h).
void add_metrics_flag(ArgumentParser& app, EnvironmentFlags& flags);

// --run-option, --deadline, --tag.
void add_run_flags(ArgumentParser& app, RunFlags& flags);

// --cache-dir.
void add_cache_flag(ArgumentParser& app, SessionFlags& flags);

// An option that may be given several times, each with one value of the form
// `left<separator>right`; anything else is a usage error. `type_name` shows the form in the help,
// e.g. "KEY=VALUE".
Argument add_pair_option(ArgumentParser& app, const std::string& name,
                         std::vector<std::string>& values, const std::string& help,
                         const std::string& type_name, char separator = '=');

// The two sides of an argument that add_pair_option accepted.
[[nodiscard]] std::pair<std::string, std::string> split_pair(std::string_view text,
                                                             char separator = '=');

// The name and the size of an argument NAME=SIZE of --dim or --dim-denotation; nothing if it has
// another form. A name may contain "=".
[[nodiscard]] std::optional<std::pair<std::string, int64_t>> parse_dimension(std::string_view text);

// Sets the level and the format of the log, also for the library.
void apply(const ReportFlags& flags);

// Sets what the library reads from the environment variables of the process whenever it is about
// to use a file. For commands that read files before they call open_environment, which does it too.
void apply(const EnvironmentFlags& flags);

}  // namespace ephost::cli
