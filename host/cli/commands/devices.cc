// `ephost devices`: lists the devices that the installed providers can use, or compile for.
#include <memory>
#include <string>

#include "host/base/format.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/options/options.h"
#include "host/cli/report/device_report.h"
#include "host/cli/report/report.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct DevicesFlags {
  EnvironmentFlags environment;
  ReportFlags report;
  bool targets = false;
};

Json to_json(const EpDeviceList& list) {
  Json failed = Json::array();
  for (const UnlistedProvider& provider : list.failed) {
    failed.push_back({{"provider", provider.provider}, {"reason", status_json(provider.reason)}});
  }
  return {{"devices", devices_json(list.devices)}, {"failed", failed}};
}

std::string to_table(const EpDeviceList& list, const DevicesFlags& flags) {
  std::string text = devices_table(list.devices, flags.report.verbose);
  if (text.empty()) {
    text = flags.targets ? "no provider compiles for devices that are not present\n"
                         : "no devices found\n";
  }
  if (!list.failed.empty()) text += "\ncannot be listed:\n";
  for (const UnlistedProvider& provider : list.failed) {
    text += formatted("  {}\n    {}\n", printable(provider.provider),
                      printable(provider.reason.to_string()));
  }
  return text;
}

Result<int> run(const DevicesFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  EPHOST_ASSIGN_OR_RETURN(const EpDeviceList list,
                          flags.targets ? environment.targets() : environment.devices());
  print(flags.report.json() ? to_text(to_json(list)) : to_table(list, flags));
  return kExitSuccess;
}

}  // namespace

Command add_devices(ArgumentParser& root) {
  auto flags = std::make_shared<DevicesFlags>();
  ArgumentParser app =
      root.add_subcommand("devices", "List the devices that the installed providers can use");
  app.add_flag("--targets", flags->targets,
               "List what they can compile for without having it instead");
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
