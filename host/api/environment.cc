#include "host/session/environment/environment.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "host/api/handles.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/session/environment/device_listing.h"
#include "host/session/metrics/prometheus_text.h"

namespace ephost::api {
namespace {

EnvironmentOptions to_options(const ephost_environment_options* options) {
  const ephost_environment_options given = adopt_record(options);
  EnvironmentOptions adopted;
  for (const char* folder : std::span(given.plugin_directories, given.plugin_directory_count)) {
    adopted.plugin_directories.emplace_back(folder);
  }
  adopted.search_default_directories = given.skip_default_directories == 0;
  adopted.crash_handler = given.no_crash_handler == 0;
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max() / 1'000'000;
  if (given.call_warning_ms == EPHOST_UNKNOWN) {
    adopted.call_warning = std::chrono::milliseconds(0);
  } else if (given.call_warning_ms != 0) {
    adopted.call_warning = std::chrono::milliseconds(std::min(given.call_warning_ms, kLongest));
  }
  adopted.threading.intra_op_num_threads = given.intra_op_num_threads;
  adopted.threading.inter_op_num_threads = given.inter_op_num_threads;
  adopted.threading.intra_op_thread_affinities = text_of(given.intra_op_thread_affinities);
  adopted.threading.allow_spinning = given.no_spinning == 0;
  adopted.metrics = given.metrics != 0;
  // A number that this host does not know can only be stricter than those that it knows.
  adopted.signatures = given.signatures == EPHOST_SIGNATURES_OFF    ? SignaturePolicy::kOff
                       : given.signatures == EPHOST_SIGNATURES_WARN ? SignaturePolicy::kWarn
                                                                    : SignaturePolicy::kRequire;
  adopted.isolation = given.isolation == EPHOST_ISOLATION_NONE     ? Isolation::kNone
                      : given.isolation == EPHOST_ISOLATION_WORKER ? Isolation::kWorker
                                                                   : Isolation::kSandbox;
  adopted.log_id = text_of(given.log_id);
  adopted.log_severity_level = to_level(given.log_severity_level);
  if (const ephost_logging_function log = given.logging_function) {
    adopted.logging_function = [log, context = given.logging_context](const LogMessage& message) {
      const std::string category(message.category), id(message.log_id),
          location(message.code_location), text(message.message);
      ephost_log_message record = {};
      record.struct_size = sizeof(record);
      record.severity = static_cast<int32_t>(message.severity);
      record.category = category.c_str();
      record.log_id = id.c_str();
      record.code_location = location.c_str();
      record.message = text.c_str();
      log(context, &record);
    };
  }
  return adopted;
}

ephost_status* create(const ephost_environment_options* options,
                      ephost_environment** out_environment) {
  *out_environment = nullptr;
  return guarded("creating an environment", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_environment_options"));
    EPHOST_ASSIGN_OR_RETURN(auto state, session::create_environment(to_options(options)));
    *out_environment = new ephost_environment{std::move(state)};
    return {};
  });
}

void release(ephost_environment* environment) { delete environment; }

ephost_status* plugins(const ephost_environment* environment, const ephost_plugin_list** out_list) {
  *out_list = nullptr;
  return guarded("listing plugins", [&]() -> Status {
    const session::EnvironmentState& of = *environment->state;
    *out_list = new_report<ephost_plugin_list>([&](Arena& arena, ephost_plugin_list& list) {
      arena.list(session::installed_plugins(of), list.plugins, list.plugin_count);
      arena.list(session::skipped_plugins(of), list.skipped, list.skipped_count);
      arena.list(session::searched_directories(of), list.directories, list.directory_count);
    });
    return {};
  });
}

ephost_status* check_loadable(const ephost_environment* environment, const char* manifest) {
  session::EnvironmentState& of = *environment->state;
  return guarded(of.log, "checking a plugin",
                 [&] { return session::check_loadable(of, manifest); });
}

ephost_status* give_devices(const ephost_environment* environment, session::Listing listing,
                            std::string_view what, const ephost_device_list** out_list) {
  *out_list = nullptr;
  session::EnvironmentState& of = *environment->state;
  return guarded(of.log, what, [&]() -> Status {
    *out_list = new_report_of(session::list_all_devices(of, listing));
    return {};
  });
}

ephost_status* devices(const ephost_environment* environment, const ephost_device_list** out_list) {
  return give_devices(environment, session::Listing::kDevices, "listing devices", out_list);
}

ephost_status* targets(const ephost_environment* environment, const ephost_device_list** out_list) {
  return give_devices(environment, session::Listing::kTargets, "listing compilation targets",
                      out_list);
}

ephost_status* register_execution_provider_library(const ephost_environment* environment,
                                                   const char* registration_name,
                                                   const char* path) {
  session::EnvironmentState& of = *environment->state;
  return guarded(of.log, "registering a plugin",
                 [&] { return session::register_plugin(of, path, text_of(registration_name)); });
}

ephost_status* unregister_execution_provider_library(const ephost_environment* environment,
                                                     const char* registration_name) {
  session::EnvironmentState& of = *environment->state;
  return guarded(of.log, "unregistering a plugin",
                 [&] { return of.plugins.remove(registration_name).status(); });
}

const char* policy_name(int32_t policy) {
  return session::ep_device_policy_name(static_cast<EpDevicePolicy>(policy)).data();
}

ephost_status* parse_policy(const char* name, int32_t* out_policy) {
  *out_policy = EPHOST_POLICY_DEFAULT;
  return guarded("reading a policy", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const EpDevicePolicy policy, session::parse_ep_device_policy(name));
    *out_policy = static_cast<int32_t>(policy);
    return {};
  });
}

ephost_status* session_groups(const ephost_environment* environment,
                              const ephost_session_group_list** out_list) {
  *out_list = nullptr;
  return guarded("listing session groups", [&]() -> Status {
    *out_list = new_report<ephost_session_group_list>([&](Arena& arena, auto& list) {
      arena.list(environment->state->groups.list(), list.groups, list.group_count);
    });
    return {};
  });
}

ephost_status* abandon_session_group(const ephost_environment* environment, const char* name) {
  session::EnvironmentState& of = *environment->state;
  return guarded(of.log, "abandoning a session group",
                 [&] { return session::abandon_session_group(of, name); });
}

ephost_status* metrics(const ephost_environment* environment, const ephost_metrics** out_report) {
  *out_report = nullptr;
  return guarded("reading metrics", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const MetricsReport counted,
                            session::read_metrics(*environment->state));
    *out_report = new_report_of(counted);
    return {};
  });
}

ephost_status* prometheus_text(const ephost_environment* environment, char** out_text) {
  *out_text = nullptr;
  return guarded("writing metrics", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const MetricsReport counted,
                            session::read_metrics(*environment->state));
    return give_text(session::prometheus_text(counted), out_text);
  });
}

}  // namespace

const ephost_environment_api kEnvironmentApi = {
    sizeof(ephost_environment_api),
    create,
    release,
    plugins,
    check_loadable,
    devices,
    targets,
    register_execution_provider_library,
    unregister_execution_provider_library,
    policy_name,
    parse_policy,
    session_groups,
    abandon_session_group,
    metrics,
    prometheus_text,
};

}  // namespace ephost::api
