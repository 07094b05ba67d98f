// `ephost list`: which plugins are installed, from their manifests alone.
#include <memory>

#include "host/base/text.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/session/environment_state.h"

namespace ephost::cli {
namespace {

struct Flags {
  EnvironmentFlags environment;
  ReportFlags report;
};

Json to_json(const manifest::SearchResult& search) {
  Json plugins = Json::array();
  for (const manifest::FoundPlugin& found : search.found) {
    const manifest::Manifest& manifest = found.manifest;
    plugins.push_back({{"provider", manifest.provider},
                       {"name", manifest.name},
                       {"vendor", manifest.vendor},
                       {"version", manifest.version.to_string()},
                       {"abi", abi_json(manifest.abi)},
                       {"devices", devices_json(manifest.devices)},
                       {"context_sources", manifest.context_sources},
                       {"manifest", manifest.file.native()},
                       {"library", found.library.native()}});
  }
  Json skipped = Json::array();
  for (const manifest::SkippedManifest& manifest : search.skipped) {
    skipped.push_back(
        {{"manifest", manifest.file.native()}, {"reason", status_json(manifest.reason)}});
  }
  Json directories = Json::array();
  for (const manifest::SearchDirectory& directory : search.directories) {
    directories.push_back({{"path", directory.path.native()},
                           {"origin", manifest::search_origin_name(directory.origin)}});
  }
  return {{"plugins", plugins}, {"skipped", skipped}, {"directories", directories}};
}

std::string directories_text(const manifest::SearchResult& search) {
  std::string text = "\nsearched, in this order:\n";
  for (const manifest::SearchDirectory& directory : search.directories) {
    text += "  " + printable(directory.path.native()) + " (" +
            std::string(manifest::search_origin_name(directory.origin)) + ")\n";
  }
  return text;
}

std::string to_table(const manifest::SearchResult& search, bool verbose) {
  Table table(
      {{"provider"}, {"name"}, {"version"}, {"vendor"}, {"abi"}, {"devices"}, {"manifest"}});
  for (const manifest::FoundPlugin& found : search.found) {
    const manifest::Manifest& manifest = found.manifest;
    table.add_row({manifest.provider, manifest.name, manifest.version.to_string(), manifest.vendor,
                   abi_text(manifest.abi), devices_text(manifest.devices), manifest.file.native()});
  }
  std::string text = table.empty() ? "no plugins found\n" : table.to_text();
  if (!search.skipped.empty()) text += "\nskipped:\n";
  for (const manifest::SkippedManifest& manifest : search.skipped) {
    text += "  " + printable(manifest.file.native()) + "\n    " +
            printable(manifest.reason.to_string()) + "\n";
  }
  // Where nothing was found, the next question is where it was looked for.
  if (verbose || table.empty()) text += directories_text(search);
  return text;
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  const manifest::SearchResult& search = environment.state().search;
  print(flags.report.json() ? to_text(to_json(search)) : to_table(search, flags.report.verbose));
  return kExitSuccess;
}

}  // namespace

Command add_list(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app = root.add_subcommand("list", "Plugins found, and why any was skipped");
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
