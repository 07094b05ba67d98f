// Environment: what the sessions of a process share. It knows which plugins are installed and keeps
// those that are loaded.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/callbacks.h>
#include <ephost/detail/records/environment.h>
#include <ephost/detail/records/metrics.h>
#include <ephost/status.h>
#include <ephost/types/environment.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/metrics.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ephost {
inline namespace v1 {

// Cheap to copy; copies are the same environment. Sessions keep it alive. Safe to use from any
// thread.
class Environment {
 public:
  // Reads the manifests; loads nothing. Broken manifests are skipped (`skipped_plugins`).
  static Result<Environment> create(const EnvironmentOptions& options = {}) {
    const detail::SmallArray<const char*> folders(
        options.plugin_directories, [](const auto& folder) { return folder.c_str(); });
    auto given = detail::sized<ephost_environment_options>();
    given.plugin_directories = folders.data();
    given.plugin_directory_count = folders.size();
    given.skip_default_directories = options.search_default_directories ? 0 : 1;
    given.no_crash_handler = options.crash_handler ? 0 : 1;
    given.call_warning_ms = options.call_warning.count() > 0
                                ? static_cast<uint64_t>(options.call_warning.count())
                                : EPHOST_UNKNOWN;
    given.log_severity_level = detail::stated(options.log_severity_level);
    given.log_id = options.log_id.c_str();
    given.no_spinning = options.threading.allow_spinning ? 0 : 1;
    given.intra_op_num_threads = options.threading.intra_op_num_threads;
    given.inter_op_num_threads = options.threading.inter_op_num_threads;
    given.intra_op_thread_affinities = options.threading.intra_op_thread_affinities.c_str();
    given.metrics = options.metrics ? 1 : 0;
    given.signatures = static_cast<int32_t>(options.signatures);
    given.isolation = static_cast<int32_t>(options.isolation);
    if (options.logging_function) given.logging_function = detail::call_logging;
    given.logging_context = options.logging_function.context();
    ephost_environment* made = nullptr;
    EPHOST_RETURN_IF_ERROR(detail::take_status(detail::api().environment->create(&given, &made)));
    return Environment(made, options.logging_function);
  }

  // By provider, highest version first.
  EPHOST_ON_DEMAND
  [[nodiscard]] std::vector<InstalledPlugin> plugins() const {
    const auto list = plugin_list();
    return detail::read_list<InstalledPlugin>(list->plugins, list->plugin_count);
  }
  // Whether the plugin could be loaded, as far as that can be known without running its code: its
  // ABI versions, the extensions that it requires, its library and the checksum of that. The status
  // says what to do. NOT_FOUND for a plugin that is not one of plugins().
  [[nodiscard]] Status check_loadable(const InstalledPlugin& plugin) const {
    return detail::take_status(
        detail::api().environment->check_loadable(handle(), plugin.manifest.c_str()));
  }
  // The devices of this machine that the installed providers can use. Loads the plugin of each
  // provider, the highest version that works; a provider that fails is reported in the list.
  EPHOST_ON_DEMAND
  [[nodiscard]] Result<EpDeviceList> devices() const {
    return detail::take_report<EpDeviceList>([&](const ephost_device_list** list) {
      return detail::api().environment->devices(handle(), list);
    });
  }
  // The devices that the installed providers can compile for without having them
  // (ModelCompilationOptions::target).
  EPHOST_ON_DEMAND
  [[nodiscard]] Result<EpDeviceList> targets() const {
    return detail::take_report<EpDeviceList>([&](const ephost_device_list** list) {
      return detail::api().environment->targets(handle(), list);
    });
  }
  EPHOST_ON_DEMAND
  [[nodiscard]] std::vector<SkippedPlugin> skipped_plugins() const {
    const auto list = plugin_list();
    return detail::read_list<SkippedPlugin>(list->skipped, list->skipped_count);
  }
  // Adds one plugin to those of the environment, for sessions that are created afterwards, and
  // keeps it loaded until it is unregistered. `path` is its manifest, or its library with a single
  // manifest beside it. Without a name it is registered under its short name. NO_SUCHFILE if there
  // is no such file; INVALID_ARGUMENT if the name is taken, the environment has the plugin already,
  // or the file is neither; otherwise fails with what is wrong with the plugin. As ONNX Runtime's
  // function of that name, which takes a library alone.
  [[nodiscard]] Status register_execution_provider_library(
      const std::string& path, const std::string& registration_name = {}) const {
    return detail::take_status(detail::api().environment->register_execution_provider_library(
        handle(), registration_name.c_str(), path.c_str()));
  }
  // Removes such a plugin again. Sessions that use it live on, and its library is unloaded with the
  // last of them. NOT_FOUND if no plugin is registered under that name.
  [[nodiscard]] Status unregister_execution_provider_library(
      const std::string& registration_name) const {
    return detail::take_status(detail::api().environment->unregister_execution_provider_library(
        handle(), registration_name.c_str()));
  }

  // In the order of the search. They need not exist.
  EPHOST_ON_DEMAND
  [[nodiscard]] std::vector<SearchedDirectory> searched_directories() const {
    const auto list = plugin_list();
    return detail::read_list<SearchedDirectory>(list->directories, list->directory_count);
  }

  EPHOST_ON_DEMAND
  [[nodiscard]] std::vector<SessionGroupInfo> session_groups() const {
    const ephost_session_group_list* list = nullptr;
    detail::expect_success(detail::api().environment->session_groups(handle(), &list));
    const detail::Report<ephost_session_group_list> report(list);
    return detail::read_list<SessionGroupInfo>(list->groups, list->group_count);
  }
  // Ends a group without its last session: nothing is written; its sessions live on. NOT_FOUND if
  // no group has the name.
  Status abandon_session_group(const std::string& name) const {
    return detail::take_status(
        detail::api().environment->abandon_session_group(handle(), name.c_str()));
  }

  // What was counted so far, of all sessions of the environment, those that ended included. May be
  // called during runs. INVALID_ARGUMENT unless EnvironmentOptions::metrics is set.
  EPHOST_ON_DEMAND
  [[nodiscard]] Result<MetricsReport> metrics() const {
    return detail::take_report<MetricsReport>([&](const ephost_metrics** report) {
      return detail::api().environment->metrics(handle(), report);
    });
  }
  // The same in Prometheus' text exposition format, version 0.0.4.
  [[nodiscard]] Result<std::string> prometheus_text() const {
    return detail::take_text(
        [&](char** text) { return detail::api().environment->prometheus_text(handle(), text); });
  }

  // The handle of the C API; it belongs to this object.
  [[nodiscard]] ephost_environment* handle() const { return handle_.get(); }

 private:
  Environment(ephost_environment* made, LoggingFunction log)
      : log_(std::move(log)), handle_(made, detail::api().environment->release) {}
  [[nodiscard]] detail::Report<ephost_plugin_list> plugin_list() const {
    const ephost_plugin_list* list = nullptr;
    detail::expect_success(detail::api().environment->plugins(handle(), &list));
    return detail::Report<ephost_plugin_list>(list);
  }

  LoggingFunction log_;  // which the handle calls
  std::shared_ptr<ephost_environment> handle_;
};

// "PREFER_NPU" etc., as ONNX Runtime calls them.
[[nodiscard]] inline std::string_view ep_device_policy_name(EpDevicePolicy policy) {
  return detail::api().environment->policy_name(static_cast<int32_t>(policy));
}
// The reverse, in any case. INVALID_ARGUMENT for any other name.
[[nodiscard]] inline Result<EpDevicePolicy> parse_ep_device_policy(const std::string& name) {
  int32_t policy = 0;
  EPHOST_RETURN_IF_ERROR(
      detail::take_status(detail::api().environment->parse_policy(name.c_str(), &policy)));
  return static_cast<EpDevicePolicy>(policy);
}

}  // namespace v1
}  // namespace ephost
