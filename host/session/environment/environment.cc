#include "host/session/environment/environment.h"

#include <algorithm>
#include <utility>

#include "host/base/files/failure_records.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/manifest/installation.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/plugins/plugin_description.h"
#include "host/trust/policy.h"
#include "host/trust/verifier.h"

namespace ephost::session {
namespace {

Status check_number(std::string_view name, uint32_t threads) {
  if (threads <= ThreadPool::kMaxThreads) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("ThreadingOptions::{} is {}; give a number of threads up to {}, 0 for "
                          "one for each processor",
                          name, threads, ThreadPool::kMaxThreads));
}

Result<ThreadPool::Options> pool_options(const ThreadingOptions& threading) {
  EPHOST_RETURN_IF_ERROR(check_number("intra_op_num_threads", threading.intra_op_num_threads));
  EPHOST_RETURN_IF_ERROR(check_number("inter_op_num_threads", threading.inter_op_num_threads));
  ThreadPool::Options options{.allow_spinning = threading.allow_spinning};
  if (threading.intra_op_thread_affinities.empty()) return options;
  EPHOST_ASSIGN_OR_RETURN(options.affinities,
                          parse_thread_affinities(threading.intra_op_thread_affinities));
  EPHOST_RETURN_IF_ERROR(check_affinities(options.affinities, threading.intra_op_num_threads));
  return options;
}

LoggingLevel level_of(bridge::Severity severity) {
  switch (severity) {
    case bridge::Severity::kDebug:
      return LoggingLevel::kVerbose;
    case bridge::Severity::kInfo:
      return LoggingLevel::kInfo;
    case bridge::Severity::kWarning:
      return LoggingLevel::kWarning;
    case bridge::Severity::kError:
      break;
  }
  return LoggingLevel::kError;
}

}  // namespace

bridge::PluginLog plugin_log() {
  const Log* const creator = LogScope::current();
  return [own = creator != nullptr ? *creator : Log()](
             bridge::Severity severity, std::string_view provider, std::string_view message) {
    const Log* const current = LogScope::current();
    (current != nullptr ? *current : own).write(level_of(severity), provider, message);
  };
}

plugin::Quarantine make_quarantine(const trust::QuarantinePolicy& policy) {
  return {FailureRecords::default_file(), policy};
}

Result<std::shared_ptr<EnvironmentState>> create_environment(const EnvironmentOptions& options,
                                                             const MachineFile& machine_file) {
  manifest::SearchRequest request;
  request.directories.assign(options.plugin_directories.begin(), options.plugin_directories.end());
  request.use_environment = options.search_default_directories;
  request.use_data_directories = options.search_default_directories;
  if (options.search_default_directories) {
    request.install_directories = manifest::install_directories();
  }
  if (options.call_warning < std::chrono::milliseconds(0)) {
    return Status(StatusCode::kInvalidArgument,
                  "EnvironmentOptions::call_warning is negative; give a time, or 0 for none");
  }
  EPHOST_ASSIGN_OR_RETURN(ThreadPool::Options pool, pool_options(options.threading));
  std::string warning = drop_unusable_processors(pool.affinities);
  const size_t bound_threads = pool.affinities.size();
  EPHOST_ASSIGN_OR_RETURN(const trust::MachinePolicy machine,
                          trust::load_machine_policy(machine_file.path, machine_file.owner));
  EPHOST_ASSIGN_OR_RETURN(const trust::ProcessQuarantine quarantine,
                          trust::quarantine_of_process(machine));
  auto state = std::make_shared<EnvironmentState>(std::move(pool), quarantine.policy);
  state->threading = options.threading;
  if (bound_threads > 0) {
    state->threading.intra_op_num_threads = static_cast<uint32_t>(bound_threads + 1);
  }
  state->log = Log(options.logging_function, options.log_severity_level, options.log_id);
  if (!warning.empty()) {
    const LogScope scope(state->log);
    log_warning(warning);
  }
  EPHOST_ASSIGN_OR_RETURN(trust::Verifier verifier,
                          trust::Verifier::create(options.signatures, machine));
  state->registry.set_verifier(std::move(verifier));
  state->isolation = std::max(options.isolation, machine.isolation);
  if (options.crash_handler) state->crash_handler.emplace();
  if (options.call_warning.count() > 0) state->call_watch.emplace(options.call_warning);
  state->plugins.set(manifest::find_plugins(request));
  state->host_version = EPHOST_VERSION;
  if (options.metrics) state->metrics = std::make_unique<Metrics>(EPHOST_VERSION);
  return state;
}

std::vector<InstalledPlugin> installed_plugins(const EnvironmentState& environment) {
  std::vector<InstalledPlugin> plugins;
  const auto all = environment.plugins.all();
  for (const manifest::FoundPlugin& found : all->found) plugins.push_back(describe_plugin(found));
  for (const manifest::FoundPlugin& layer : all->layers) plugins.push_back(describe_plugin(layer));
  return plugins;
}

std::vector<SkippedPlugin> skipped_plugins(const EnvironmentState& environment) {
  std::vector<SkippedPlugin> skipped;
  const auto all = environment.plugins.all();
  for (const manifest::SkippedManifest& manifest : all->skipped) {
    skipped.push_back({manifest.file, manifest.reason});
  }
  return skipped;
}

std::vector<SearchedDirectory> searched_directories(const EnvironmentState& environment) {
  std::vector<SearchedDirectory> directories;
  const auto all = environment.plugins.all();
  for (const manifest::SearchDirectory& searched : all->directories) {
    directories.push_back(
        {searched.path, std::string(manifest::search_origin_name(searched.origin))});
  }
  return directories;
}

Status check_loadable(EnvironmentState& environment, const std::filesystem::path& manifest) {
  const auto found = environment.plugins.find(manifest);
  if (found != nullptr) return environment.registry.check(*found);
  return Status(
      StatusCode::kNotFound,
      formatted("no installed plugin has the manifest {}; give that of a plugin in the list",
                quote(manifest.native())));
}

Status register_plugin(EnvironmentState& environment, const std::filesystem::path& path,
                       std::string name) {
  EPHOST_ASSIGN_OR_RETURN(manifest::FoundPlugin found, find_plugin_at(path));
  if (name.empty()) name = found.manifest.name;
  EPHOST_RETURN_IF_ERROR(environment.plugins.check_new(name, found));
  // What was found out about the same file earlier may not hold any longer.
  environment.registry.forget(found.manifest.file);
  EPHOST_ASSIGN_OR_RETURN(auto loaded, PluginLoader(environment).load(found));
  return environment.plugins.add(std::move(name), std::move(loaded), std::move(found));
}

Status abandon_session_group(EnvironmentState& environment, const std::string& name) {
  if (environment.groups.remove(name)) return Status::ok_status();
  return Status(StatusCode::kNotFound, "there is no session group " + quote(name));
}

Result<MetricsReport> read_metrics(const EnvironmentState& environment) {
  if (environment.metrics != nullptr) return environment.metrics->read();
  return Status(StatusCode::kInvalidArgument,
                "the environment counts nothing; create it with EnvironmentOptions::metrics "
                "(ephost_environment_options.metrics in C)");
}

}  // namespace ephost::session
