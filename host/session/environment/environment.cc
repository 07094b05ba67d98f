#include "host/session/environment/environment.h"

#include <algorithm>
#include <utility>

#include "host/base/files/failure_records.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/manifest/installation.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/device_listing.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/metrics/prometheus_text.h"
#include "host/session/plugins/plugin_description.h"
#include "host/trust/policy.h"
#include "host/trust/verifier.h"

namespace ephost {
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
  EPHOST_RETURN_IF_ERROR(
      session::check_affinities(options.affinities, threading.intra_op_num_threads));
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

plugin::Quarantine session::make_quarantine(const trust::QuarantinePolicy& policy) {
  return {FailureRecords::default_file(), policy};
}

Result<Environment> Environment::create(const EnvironmentOptions& options) {
  return session::without_exceptions("creating an environment", [&]() -> Result<Environment> {
    return State::create(options, {});
  });
}

Result<Environment> Environment::State::create(const EnvironmentOptions& options,
                                               const MachineFile& machine_file) {
  manifest::SearchRequest request;
  request.directories = options.plugin_directories;
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
  auto state = std::make_shared<State>(std::move(pool), quarantine.policy);
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
  if (options.metrics) state->metrics = std::make_unique<session::Metrics>(EPHOST_VERSION);
  return Environment(std::move(state));
}

std::vector<InstalledPlugin> Environment::plugins() const {
  std::vector<InstalledPlugin> plugins;
  const auto all = state_->plugins.all();
  for (const manifest::FoundPlugin& found : all->found) {
    plugins.push_back(session::describe_plugin(found));
  }
  for (const manifest::FoundPlugin& layer : all->layers) {
    plugins.push_back(session::describe_plugin(layer));
  }
  return plugins;
}

Status Environment::check_loadable(const InstalledPlugin& plugin) const {
  const LogScope scope(state_->log);
  return session::without_exceptions("checking a plugin", [&] {
    const auto found = state_->plugins.find(plugin.manifest);
    if (found != nullptr) return state_->registry.check(*found);
    return Status(
        StatusCode::kNotFound,
        formatted("no installed plugin has the manifest {}; give that of a plugin in the list",
                  quote(plugin.manifest.native())));
  });
}

Result<EpDeviceList> Environment::devices() const {
  const LogScope scope(state_->log);
  return session::without_exceptions("listing devices", [&]() -> Result<EpDeviceList> {
    return session::list_all_devices(*state_, session::Listing::kDevices);
  });
}

Result<EpDeviceList> Environment::targets() const {
  const LogScope scope(state_->log);
  return session::without_exceptions("listing compilation targets", [&]() -> Result<EpDeviceList> {
    return session::list_all_devices(*state_, session::Listing::kTargets);
  });
}

Status Environment::register_execution_provider_library(const std::filesystem::path& path,
                                                        std::string registration_name) const {
  const LogScope scope(state_->log);
  return session::without_exceptions("registering a plugin", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(manifest::FoundPlugin found, session::find_plugin_at(path));
    if (registration_name.empty()) registration_name = found.manifest.name;
    EPHOST_RETURN_IF_ERROR(state_->plugins.check_new(registration_name, found));
    // What was found out about the same file earlier may not hold any longer.
    state_->registry.forget(found.manifest.file);
    EPHOST_ASSIGN_OR_RETURN(auto loaded, session::PluginLoader(*state_).load(found));
    return state_->plugins.add(std::move(registration_name), std::move(loaded), std::move(found));
  });
}

Status Environment::unregister_execution_provider_library(
    const std::string& registration_name) const {
  const LogScope scope(state_->log);
  return session::without_exceptions("unregistering a plugin", [&]() -> Status {
    return state_->plugins.remove(registration_name).status();
  });
}

std::vector<SkippedPlugin> Environment::skipped_plugins() const {
  std::vector<SkippedPlugin> skipped;
  const auto all = state_->plugins.all();
  for (const manifest::SkippedManifest& manifest : all->skipped) {
    skipped.push_back({manifest.file, manifest.reason});
  }
  return skipped;
}

std::vector<SearchedDirectory> Environment::searched_directories() const {
  std::vector<SearchedDirectory> directories;
  const auto all = state_->plugins.all();
  for (const manifest::SearchDirectory& searched : all->directories) {
    directories.push_back(
        {searched.path, std::string(manifest::search_origin_name(searched.origin))});
  }
  return directories;
}

std::vector<SessionGroupInfo> Environment::session_groups() const { return state_->groups.list(); }

Status Environment::abandon_session_group(const std::string& name) const {
  const LogScope scope(state_->log);
  if (state_->groups.remove(name)) return Status::ok_status();
  return Status(StatusCode::kNotFound, "there is no session group " + quote(name));
}

Result<MetricsReport> Environment::metrics() const {
  return session::without_exceptions("reading metrics", [&]() -> Result<MetricsReport> {
    if (state_->metrics != nullptr) return state_->metrics->read();
    return Status(StatusCode::kInvalidArgument,
                  "the environment counts nothing; create it with EnvironmentOptions::metrics "
                  "(ephost_environment_options.metrics in C)");
  });
}

Result<std::string> Environment::prometheus_text() const {
  return session::without_exceptions("writing metrics", [&]() -> Result<std::string> {
    EPHOST_ASSIGN_OR_RETURN(const MetricsReport report, metrics());
    return session::prometheus_text(report);
  });
}

}  // namespace ephost
