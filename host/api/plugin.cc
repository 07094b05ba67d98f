#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "host/api/handles.h"
#include "host/api/key_values.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/session/tools/check_selection.h"
#include "host/session/tools/inspect_plugin.h"
#include "host/session/tools/plugin_exit.h"

namespace ephost::api {
namespace {

ephost_status* inspect(const ephost_environment* environment, const char* plugin,
                       const ephost_plugin_description** out_report) {
  *out_report = nullptr;
  return guarded("inspecting a plugin", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const PluginDescription description,
                            session::inspect_plugin(*environment->state, plugin));
    *out_report = new_report_of(description);
    return {};
  });
}

ephost_status* inspect_request(const ephost_environment* environment,
                               const ephost_provider_request* request,
                               const ephost_plugin_description** out_report) {
  *out_report = nullptr;
  return guarded("inspecting a plugin", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(request, "ephost_provider_request"));
    const ephost_provider_request given = adopt_record(request);
    EPHOST_ASSIGN_OR_RETURN(
        const PluginDescription description,
        session::inspect_plugin(*environment->state, detail::read_record<ProviderRequest>(given)));
    *out_report = new_report_of(description);
    return {};
  });
}

// A limit of 0 is left at its default, and one of more than a year is a year.
InspectOptions to_inspect_options(const ephost_inspect_options& given) {
  InspectOptions options;
  if (given.isolation != nullptr) options.isolation = given.isolation;
  constexpr uint64_t kLongest = uint64_t{365} * 24 * 3600 * 1'000'000'000;
  if (given.call_limit_ns != 0) {
    options.call_limit = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::nanoseconds(std::min(given.call_limit_ns, kLongest)));
  }
  options.refresh = given.refresh != 0;
  options.session_entries = to_list(given.session_entries, given.session_entry_count);
  return options;
}

ephost_status* inspect_with_options(const ephost_environment* environment, const char* plugin,
                                    const ephost_provider_request* request,
                                    const ephost_inspect_options* options,
                                    const ephost_plugin_description** out_report) {
  *out_report = nullptr;
  return guarded("inspecting a plugin", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_inspect_options"));
    EPHOST_RETURN_IF_ERROR(check_record(request, "ephost_provider_request"));
    const InspectOptions how = to_inspect_options(adopt_record(options));
    if ((plugin == nullptr) == (request == nullptr)) {
      return Status(StatusCode::kInvalidArgument,
                    "inspect_with_options takes either a plugin or a request; give one of them");
    }
    EPHOST_ASSIGN_OR_RETURN(
        const PluginDescription description,
        plugin != nullptr ? session::inspect_plugin(*environment->state, std::string(plugin), how)
                          : session::inspect_plugin(
                                *environment->state,
                                detail::read_record<ProviderRequest>(adopt_record(request)), how));
    *out_report = new_report_of(description);
    return {};
  });
}

ephost_status* check(const ephost_environment* environment, const char* file, int32_t depth,
                     const ephost_selection_report** out_report) {
  *out_report = nullptr;
  return guarded("checking a selection", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(
        const SelectionReport report,
        session::check_selection(
            *environment->state, file,
            depth == EPHOST_SELECTION_LOAD ? SelectionCheck::kLoad : SelectionCheck::kFind));
    *out_report = new_report_of(report);
    return {};
  });
}

}  // namespace

const ephost_plugin_api kPluginApi = {
    sizeof(ephost_plugin_api), inspect,         session::guard_against_plugin_exit,
    session::end_process,      inspect_request, check,
    inspect_with_options,
};

}  // namespace ephost::api
