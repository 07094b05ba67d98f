// `ephost list`: shows which plugins are installed and could be loaded. Runs no code of a plugin,
// unless `--probe` asks for that; then in workers.
#include <ephost/check_selection.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/commands/probe.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/device_report.h"
#include "host/cli/report/report.h"
#include "host/cli/report/selection_report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct ListFlags {
  EnvironmentFlags environment;
  ReportFlags report;
  SelectionFlags selection;
  ProbeFlags how;
  bool probe = false;
};

struct CheckedPlugin {
  InstalledPlugin plugin;
  Status loadable;
  std::optional<Result<PluginDescription>> probe = std::nullopt;  // with --probe
  bool wins = false;  // sessions without a version range use it, not another version

  // Why it cannot be used, as far as that was looked at.
  [[nodiscard]] Status problem() const { return probe ? problem_of(*probe) : loadable; }
};

// The plugins that have providers.
using Providers = std::vector<CheckedPlugin>;

// The selection that sessions would use by default, or that was given.
struct Chosen {
  SelectionFile file;
  SelectionReport report;

  std::map<std::filesystem::path, SelectionVerdict> verdicts;  // by manifest

  // What it makes of a plugin.
  [[nodiscard]] SelectionVerdict verdict_on(const InstalledPlugin& plugin) const {
    const auto found = verdicts.find(plugin.manifest);
    return found == verdicts.end() ? SelectionVerdict{} : found->second;
  }
};

Result<std::optional<Chosen>> choose_selection(const Environment& environment,
                                               const ListFlags& flags) {
  std::optional<Chosen> chosen;
  SelectionFile file = find_selection(flags.selection);
  if (file.path.empty()) return chosen;
  EPHOST_ASSIGN_OR_RETURN(SelectionReport report,
                          check_selection(environment, file.path, SelectionCheck::kFind));
  chosen.emplace(Chosen{std::move(file), std::move(report), {}});
  for (const SelectionVerdict& verdict : chosen->report.plugins) {
    chosen->verdicts.emplace(verdict.manifest, verdict);
  }
  return chosen;
}

enum class PluginKind { kProvider, kLayer };

std::vector<CheckedPlugin> check_plugins(const Environment& environment, PluginKind kind) {
  std::vector<CheckedPlugin> checked;
  for (InstalledPlugin& plugin : environment.plugins()) {
    if (plugin.provider.empty() != (kind == PluginKind::kLayer)) continue;
    Status loadable = environment.check_loadable(plugin);
    checked.push_back({std::move(plugin), std::move(loadable)});
  }
  return checked;
}

void run_probes(const Environment& environment, const InspectOptions& how, Providers& providers) {
  std::vector<InstalledPlugin> plugins;
  for (const CheckedPlugin& one : providers) plugins.push_back(one.plugin);
  std::vector<Result<PluginDescription>> probes = probe_plugins(environment, plugins, how);
  for (size_t i = 0; i < probes.size(); ++i) providers[i].probe = std::move(probes[i]);
}

// Of several versions, the first one that can be used wins: they are in the order of preference.
void mark_winners(std::span<CheckedPlugin> checked) {
  std::string_view decided;
  for (CheckedPlugin& one : checked) {
    const InstalledPlugin& plugin = one.plugin;
    const std::string& subject = plugin.provider.empty() ? plugin.name : plugin.provider;
    if (subject == decided || !one.problem().ok()) continue;
    one.wins = true;
    decided = subject;
  }
}

bool has_several_versions(std::span<const CheckedPlugin> checked) {
  return std::ranges::adjacent_find(checked, [](const auto& one, const auto& other) {
           return one.plugin.provider == other.plugin.provider &&
                  (!one.plugin.provider.empty() || one.plugin.name == other.plugin.name);
         }) != checked.end();
}

Json probe_json(const Result<PluginDescription>& probe) {
  const Status problem = problem_of(probe);
  Json json = {{"works", problem.ok()}, {"problem", problem.ok() ? Json() : status_json(problem)}};
  if (!probe.ok()) return json;
  json.set("negotiated_abi", std::vector{probe->plugin.abi.major, probe->abi_minor});
  json.set("devices", devices_json(probe->devices));
  json.set("extensions", probe->extensions);
  json.set("isolation", probe->isolation);
  json.set("sandbox_gaps", probe->sandbox_gaps);
  json.set("recorded", recorded_json(*probe));
  return json;
}

Json layers_json(const Environment& environment) {
  Json layers = Json::array();
  std::vector<CheckedPlugin> checked = check_plugins(environment, PluginKind::kLayer);
  mark_winners(checked);
  for (const auto& [plugin, loadable, unused, wins] : checked) {
    layers.push_back({{"name", plugin.name},
                      {"vendor", plugin.vendor},
                      {"version", plugin.version},
                      {"abi", abi_json(plugin.abi)},
                      {"manifest", plugin.manifest},
                      {"library", plugin.library},
                      {"wins", wins},
                      {"loadable", loadable.ok()},
                      {"problem", loadable.ok() ? Json() : status_json(loadable)}});
  }
  return layers;
}

Json to_json(const Environment& environment, const Providers& providers,
             const std::optional<Chosen>& chosen) {
  Json plugins = Json::array();
  for (const auto& [plugin, loadable, probe, wins] : providers) {
    Json json = {{"provider", plugin.provider},
                 {"name", plugin.name},
                 {"vendor", plugin.vendor},
                 {"version", plugin.version},
                 {"abi", abi_json(plugin.abi)},
                 {"devices", devices_json(plugin.devices)},
                 {"context_sources", plugin.context_sources},
                 {"manifest", plugin.manifest},
                 {"library", plugin.library},
                 {"loadable", loadable.ok()},
                 {"problem", loadable.ok() ? Json() : status_json(loadable)}};
    if (probe) json.set("probe", probe_json(*probe));
    if (chosen) {
      const SelectionVerdict verdict = chosen->verdict_on(plugin);
      json.set("selected",
               Json{{"position", verdict.position == 0 ? Json() : Json(verdict.position)},
                    {"reason", verdict.reason}});
    } else {
      json.set("wins", wins);
    }
    plugins.push_back(std::move(json));
  }
  Json skipped = Json::array();
  for (const SkippedPlugin& plugin : environment.skipped_plugins()) {
    skipped.push_back({{"manifest", plugin.manifest}, {"reason", status_json(plugin.reason)}});
  }
  Json directories = Json::array();
  for (const SearchedDirectory& directory : environment.searched_directories()) {
    directories.push_back({{"path", directory.path}, {"origin", directory.origin}});
  }
  Json json = {{"plugins", plugins},
               {"layers", layers_json(environment)},
               {"skipped", skipped},
               {"directories", directories}};
  if (chosen) json.set("selection", selection_json(chosen->file, chosen->report));
  return json;
}

std::string directories_text(const Environment& environment) {
  std::string text = "\nsearched, in this order:\n";
  for (const SearchedDirectory& directory : environment.searched_directories()) {
    text += formatted("  {} ({})\n", printable(directory.path), directory.origin);
  }
  return text;
}

std::string selection_text(const Chosen& chosen) {
  std::string text = formatted("\nselection {} ({}):\n",
                               printable(quote(chosen.file.path.native())), chosen.file.origin) +
                     providers_text(chosen.report);
  const std::string findings = findings_text(chosen.file.path, chosen.report);
  return findings.empty() ? text : text + "\nwrong with it:\n" + findings;
}

std::string problem_text(const InstalledPlugin& plugin, const Status& loadable) {
  return "  " + printable(plugin.manifest) + "\n    " + printable(loadable.to_string()) + "\n";
}

// The layers that plugins ship; empty if there are none. Why some cannot be loaded is added to
// `problems`.
std::string layers_text(const Environment& environment, std::string& problems) {
  std::vector<CheckedPlugin> checked = check_plugins(environment, PluginKind::kLayer);
  mark_winners(checked);
  const bool several = has_several_versions(checked);
  std::vector<Column> columns = {{"layer"}, {"version"}, {"vendor"}, {"abi"}, {"loadable"}};
  if (several) columns.push_back({"wins"});
  columns.push_back({"manifest"});
  Table table(std::move(columns));
  for (const auto& [plugin, loadable, unused, wins] : checked) {
    std::vector<std::string> row = {plugin.name, plugin.version, plugin.vendor,
                                    abi_text(plugin.abi), loadable.ok() ? "yes" : "no"};
    if (several) row.emplace_back(wins ? "yes" : "no");
    row.push_back(plugin.manifest);
    table.add_row(std::move(row));
    if (!loadable.ok()) problems += problem_text(plugin, loadable);
  }
  return table.empty() ? "" : "\n" + table.to_text();
}

// "cpu", "gpu \"Acme 900\", npu": the devices that a plugin has found.
std::string found_text(std::span<const EpDevice> devices) {
  std::vector<std::string> texts;
  for (const EpDevice& device : devices) {
    texts.push_back(device.name.empty() ? device.type
                                        : formatted("{} {}", device.type, quote(device.name)));
  }
  return join(texts, ", ");
}

// The cells from the ABI's version on: what the manifest says and whether the library could be
// loaded, or what the plugin said when it was run.
void add_facts(const CheckedPlugin& checked, std::vector<std::string>& row) {
  if (!checked.probe) {
    row.insert(row.end(), {abi_text(checked.plugin.abi), devices_text(checked.plugin.devices)});
  } else if (checked.probe->ok()) {
    const PluginDescription& probe = **checked.probe;
    row.insert(row.end(), {formatted("{}.{}", probe.plugin.abi.major, probe.abi_minor),
                           found_text(probe.devices), join(probe.extensions, ", ")});
  } else {
    row.insert(row.end(), {"", "", ""});
  }
  row.push_back(checked.problem().ok() ? "yes" : "no");
}

// Notes on the providers that were probed: what was not found out now, and what a sandbox could not
// enforce, which is the same for all plugins.
std::string probes_text(const Providers& providers) {
  size_t recorded = 0;
  std::vector<std::string> gaps;
  for (const CheckedPlugin& one : providers) {
    if (!one.probe || !one.probe->ok()) continue;
    if ((*one.probe)->recorded_time != 0) ++recorded;
    if (gaps.empty()) gaps = (*one.probe)->sandbox_gaps;
  }
  std::string text;
  if (recorded > 0) {
    text += formatted("\n{} known from another time; --refresh runs {} again\n",
                      recorded == 1 ? "1 plugin is" : formatted("{} plugins are", recorded),
                      recorded == 1 ? "it" : "them");
  }
  if (!gaps.empty()) text += "\nnot enforced by the sandbox:\n";
  for (const std::string& gap : gaps) text += "  " + printable(gap) + "\n";
  return text;
}

std::string to_table(const Environment& environment, const Providers& providers,
                     const std::optional<Chosen>& chosen, bool probed, bool verbose) {
  std::vector<Column> columns = {{"provider"}, {"name"}, {"version"},
                                 {"vendor"},   {"abi"},  {"devices"}};
  if (probed) columns.push_back({"extensions"});
  columns.push_back({probed ? "works" : "loadable"});
  // A selection says more about each version.
  const bool marks_winners = !chosen && has_several_versions(providers);
  if (marks_winners) columns.push_back({"wins"});
  columns.push_back({"manifest"});
  if (chosen) columns.insert(columns.end(), {{"selected", Align::kRight}, {"why"}});
  Table table(std::move(columns));
  std::string problems;
  for (const CheckedPlugin& checked : providers) {
    const InstalledPlugin& plugin = checked.plugin;
    std::vector<std::string> row = {plugin.provider, plugin.name, plugin.version, plugin.vendor};
    add_facts(checked, row);
    if (marks_winners) row.emplace_back(checked.wins ? "yes" : "no");
    row.push_back(plugin.manifest);
    if (chosen) {
      const SelectionVerdict verdict = chosen->verdict_on(plugin);
      row.push_back(verdict.position == 0 ? "no" : std::to_string(verdict.position));
      row.push_back(verdict.reason);
    }
    table.add_row(std::move(row));
    if (const Status problem = checked.problem(); !problem.ok()) {
      problems += problem_text(plugin, problem);
    }
  }
  std::string text = table.empty() ? "no plugins found\n" : table.to_text();
  text += layers_text(environment, problems);
  if (!problems.empty()) {
    text += formatted("\ncannot be {}:\n", probed ? "used" : "loaded") + problems;
  }
  text += probes_text(providers);
  const std::vector<SkippedPlugin> skipped = environment.skipped_plugins();
  if (!skipped.empty()) text += "\nskipped:\n";
  for (const SkippedPlugin& plugin : skipped) {
    text += formatted("  {}\n    {}\n", printable(plugin.manifest),
                      printable(plugin.reason.to_string()));
  }
  if (chosen) text += selection_text(*chosen);
  // Where no plugin was found, the directories tell where one is missing.
  if (verbose || table.empty()) text += directories_text(environment);
  return text;
}

Result<int> run(const ListFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  EPHOST_ASSIGN_OR_RETURN(const std::optional<Chosen> chosen, choose_selection(environment, flags));
  Providers providers = check_plugins(environment, PluginKind::kProvider);
  if (flags.probe) {
    const Activity activity("running the plugins", flags.report.shows_progress());
    run_probes(environment, inspect_options(flags.how), providers);
  }
  mark_winners(providers);
  print(flags.report.json()
            ? to_text(to_json(environment, providers, chosen))
            : to_table(environment, providers, chosen, flags.probe, flags.report.verbose));
  const bool all_work = std::ranges::all_of(
      providers, [](const CheckedPlugin& one) { return !one.probe || one.problem().ok(); });
  return all_work ? kExitSuccess : kExitPlugin;
}

}  // namespace

Command add_list(ArgumentParser& root) {
  auto flags = std::make_shared<ListFlags>();
  ArgumentParser app =
      root.add_subcommand("list", "List the installed plugins, and why some cannot be used");
  const Argument probe =
      app.add_flag("--probe", flags->probe,
                   "Run each plugin to find out what it offers and whether it works")
          .group("Probing");
  for (Argument& argument : add_probe_flags(app, flags->how)) argument.needs(probe);
  add_selection_flags(app, flags->selection);
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
