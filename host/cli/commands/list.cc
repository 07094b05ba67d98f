// `ephost list`: shows which plugins are installed and could be loaded. Runs no code of a plugin.
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

struct CheckedPlugin {
  InstalledPlugin plugin;
  Status loadable;
};

std::vector<CheckedPlugin> check_plugins(const Environment& environment) {
  std::vector<CheckedPlugin> checked;
  for (InstalledPlugin& plugin : environment.plugins()) {
    Status loadable = environment.check_loadable(plugin);
    checked.push_back({std::move(plugin), std::move(loadable)});
  }
  return checked;
}

Json to_json(const Environment& environment) {
  Json plugins = Json::array();
  for (const auto& [plugin, loadable] : check_plugins(environment)) {
    plugins.push_back({{"provider", plugin.provider},
                       {"name", plugin.name},
                       {"vendor", plugin.vendor},
                       {"version", plugin.version},
                       {"abi", abi_json(plugin.abi)},
                       {"devices", devices_json(plugin.devices)},
                       {"context_sources", plugin.context_sources},
                       {"manifest", plugin.manifest.native()},
                       {"library", plugin.library.native()},
                       {"loadable", loadable.ok()},
                       {"problem", loadable.ok() ? Json() : status_json(loadable)}});
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
  Table table({{"provider"},
               {"name"},
               {"version"},
               {"vendor"},
               {"abi"},
               {"devices"},
               {"loadable"},
               {"manifest"}});
  std::string problems;
  for (const auto& [plugin, loadable] : check_plugins(environment)) {
    table.add_row({plugin.provider, plugin.name, plugin.version, plugin.vendor,
                   abi_text(plugin.abi), devices_text(plugin.devices), loadable.ok() ? "yes" : "no",
                   plugin.manifest.native()});
    if (!loadable.ok())
      problems += "  " + printable(plugin.manifest.native()) + "\n    " +
                  printable(loadable.to_string()) + "\n";
  }
  std::string text = table.empty() ? "no plugins found\n" : table.to_text();
  if (!problems.empty()) text += "\ncannot be loaded:\n" + problems;
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
      root.add_subcommand("list", "List the installed plugins, and why some cannot be used");
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
