// `ephost list`: shows which plugins are installed, from their manifests alone.
#include <memory>

#include "host/base/format.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"

namespace ephost::cli {
namespace {

struct Flags {
  EnvironmentFlags environment;
  ReportFlags report;
};

Json to_json(const Environment& environment) {
  Json plugins = Json::array();
  for (const InstalledPlugin& plugin : environment.plugins()) {
    plugins.push_back({{"provider", plugin.provider},
                       {"name", plugin.name},
                       {"vendor", plugin.vendor},
                       {"version", plugin.version},
                       {"abi", abi_json(plugin.abi)},
                       {"devices", devices_json(plugin.devices)},
                       {"context_sources", plugin.context_sources},
                       {"manifest", plugin.manifest.native()},
                       {"library", plugin.library.native()}});
  }
  Json skipped = Json::array();
  for (const SkippedPlugin& plugin : environment.skipped_plugins()) {
    skipped.push_back(
        {{"manifest", plugin.manifest.native()}, {"reason", status_json(plugin.reason)}});
  }
  Json directories = Json::array();
  for (const SearchedDirectory& directory : environment.searched_directories()) {
    directories.push_back({{"path", directory.path.native()}, {"origin", directory.origin}});
  }
  return {{"plugins", plugins}, {"skipped", skipped}, {"directories", directories}};
}

std::string directories_text(const Environment& environment) {
  std::string text = "\nsearched, in this order:\n";
  for (const SearchedDirectory& directory : environment.searched_directories()) {
    text += formatted("  {} ({})\n", printable(directory.path.native()), directory.origin);
  }
  return text;
}

std::string to_table(const Environment& environment, bool verbose) {
  Table table(
      {{"provider"}, {"name"}, {"version"}, {"vendor"}, {"abi"}, {"devices"}, {"manifest"}});
  for (const InstalledPlugin& plugin : environment.plugins()) {
    table.add_row({plugin.provider, plugin.name, plugin.version, plugin.vendor,
                   abi_text(plugin.abi), devices_text(plugin.devices), plugin.manifest.native()});
  }
  std::string text = table.empty() ? "no plugins found\n" : table.to_text();
  const std::vector<SkippedPlugin> skipped = environment.skipped_plugins();
  if (!skipped.empty()) text += "\nskipped:\n";
  for (const SkippedPlugin& plugin : skipped) {
    text += formatted("  {}\n    {}\n", printable(plugin.manifest.native()),
                      printable(plugin.reason.to_string()));
  }
  // Where no plugin was found, the directories tell where one is missing.
  if (verbose || table.empty()) text += directories_text(environment);
  return text;
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  print(flags.report.json() ? to_text(to_json(environment))
                            : to_table(environment, flags.report.verbose));
  return kExitSuccess;
}

}  // namespace

Command add_list(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app =
      root.add_subcommand("list", "List the installed plugins, and why others were skipped");
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
