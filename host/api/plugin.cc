#include <string>

#include "host/api/handles.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/session/tools/inspect_plugin.h"
#include "host/session/tools/plugin_exit.h"

namespace ephost::api {
namespace {

ephost_status* inspect(const ephost_environment* environment, const char* plugin,
                       const ephost_plugin_description** out_report) {
  *out_report = nullptr;
  return guarded("inspecting a plugin", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const PluginDescription description,
                            inspect_plugin(environment->environment, plugin));
    *out_report = new_report_of(description);
    return {};
  });
}

}  // namespace

const ephost_plugin_api kPluginApi = {
    sizeof(ephost_plugin_api),
    inspect,
    guard_against_plugin_exit,
    end_process,
};

}  // namespace ephost::api
