// The options that several subcommands share, and the Environment and SessionOptions that they
// become. Each command declares the groups that it needs.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cli/argument_parser.h"
#include "host/cli/defaults.h"

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
  std::filesystem::path default_cache_dir;  // where nothing else states one
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

// Sets the level and the format of the log, also for the library.
void apply(const ReportFlags& flags);

// Sets what the library reads from the environment variables of the process whenever it is about
// to use a file. For commands that read files before they call open_environment, which does it too.
void apply(const EnvironmentFlags& flags);
[[nodiscard]] Result<Environment> open_environment(const EnvironmentFlags& flags);

// The selection file that a session uses: of --selection, or of find_selection unless --ep or
// --policy say which providers there are.
[[nodiscard]] SelectionFile selection_of(const SessionFlags& flags);

// The type name of a provider that is named by type name or short name; the name itself if it is
// not installed.
[[nodiscard]] std::string provider_behind(const std::string& name, const Environment& environment);

// Options with what a selection file states; without a path, nothing. A failure says how to do
// without a file that was not given.
[[nodiscard]] Result<SessionOptions> read_selection(const SelectionFile& selection);

// The providers of the selection file, then those of --ep. An option of --ep-option goes to the
// provider that it names by type name or short name; INVALID_ARGUMENT if that one was not asked
// for, except for the CPU provider, which every session has. A --device goes to the provider that
// it names, or to the only one that was asked for.
[[nodiscard]] Result<SessionOptions> make_session_options(const SessionFlags& flags,
                                                          const Environment& environment);

// What the flags say about a run that begins now.
[[nodiscard]] RunOptions make_run_options(const RunFlags& flags);

}  // namespace ephost::cli
