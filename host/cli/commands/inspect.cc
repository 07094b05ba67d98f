// `ephost inspect PLUGIN`: loads one plugin and shows its devices, options, operators and kernels.
#include <ephost/inspect_plugin.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/commands/probe.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/device_report.h"
#include "host/cli/report/plugin_report.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"
#include "host/manifest/manifest.h"
#include "host/manifest/yaml_tree.h"
#include "host/trust/sign_manifest.h"
#include "host/trust/verifier.h"

namespace ephost::cli {
namespace {

struct InspectFlags {
  EnvironmentFlags environment;
  ReportFlags report;
  SelectionFlags selection;
  ProbeFlags probe;
  std::string plugin;
};

// A plugin as a selection chooses it; without a file, as it is by default.
struct Choice {
  SelectionFile file;
  ProviderRequest request;
  OptionList session_entries = {};

  [[nodiscard]] bool is_selected() const { return !file.path.empty(); }
};

// What the selection says about the plugin that the command line names. One that is used by default
// need not name it; nor does a selection say anything about the manifest of one plugin.
Result<Choice> choose_request(const Environment& environment, const InspectFlags& flags) {
  const bool is_given = !flags.selection.file.empty();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(flags.plugin, ignored)) {
    if (!is_given) return Choice{};
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} is a file, and a selection chooses among the installed plugins; "
                            "give the name of a provider, or no --selection",
                            quote(flags.plugin)));
  }
  const SelectionFile file = find_selection(flags.selection);
  if (file.path.empty()) return Choice{};
  EPHOST_ASSIGN_OR_RETURN(const SessionOptions options, read_selection(file));
  const std::string provider = provider_behind(flags.plugin, environment);
  std::vector<std::string> names;
  for (const ProviderRequest& request : options.providers()) {
    if (provider_behind(request.name, environment) == provider) {
      return Choice{file, request, options.config_entries()};
    }
    names.push_back(quote(request.name));
  }
  if (provider == kCpuProvider) {
    return Choice{file, {.name = provider}, options.config_entries()};
  }
  if (!is_given) return Choice{};
  return Status(StatusCode::kNotFound,
                formatted("the selection {} does not name the provider {}; it names {}",
                          quote(file.path.native()), quote(flags.plugin),
                          names.empty() ? "none" : join(names, ", ")));
}

// The value that the selection gives an option; null if it gives none.
const std::string* selected_value(const Choice& choice, const std::string& option) {
  for (const auto& [key, value] : choice.request.options) {
    if (key == option) return &value;
  }
  return nullptr;
}

Json options_json(const PluginDescription& plugin, const Choice& choice) {
  Json options = Json::array();
  for (const OptionDescription& option : plugin.options) {
    Json json = {{"name", option.name},
                 {"type", option.type},
                 {"scope", option.scope},
                 {"default", option.default_value}};
    if (option.range) json.set("range", std::vector{option.range->first, option.range->second});
    if (!option.choices.empty()) json.set("choices", option.choices);
    json.set("help", option.help);
    if (choice.is_selected()) {
      const std::string* const value = selected_value(choice, option.name);
      json.set("selected", value == nullptr ? Json() : Json(*value));
    }
    options.push_back(json);
  }
  return options;
}

Json choice_json(const Choice& choice) {
  const std::string& range = choice.request.version_range;
  return {{"file", choice.file.path.native()},
          {"origin", choice.file.origin},
          {"version_range", range.empty() ? Json() : Json(range)},
          {"devices", choice.request.devices}};
}

// Whether somebody who is trusted vouches for the plugin, as its manifest is now.
trust::SignatureState signature_of(const InstalledPlugin& plugin) {
  const auto fail = [](Status status) {
    trust::SignatureState state;
    state.status = std::move(status);
    return state;
  };
  const auto verifier = trust::Verifier::create(SignaturePolicy::kOff);
  if (!verifier.ok()) return fail(verifier.status());
  const auto text = read_file(plugin.manifest, manifest::kMaxYamlBytes);
  if (!text.ok()) return fail(text.status());
  const auto manifest = manifest::parse_manifest(*text, plugin.manifest);
  if (!manifest.ok()) return fail(manifest.status());
  return verifier->examine_plugin(*manifest, *text);
}

// What the signature of the manifest leaves out, as `files` names it.
std::vector<std::string> uncovered_by_signature(const InstalledPlugin& plugin,
                                                const trust::SignatureState& state) {
  if (!state.is_signed) return {};
  const auto completed = trust::complete_manifest(plugin.manifest);
  if (!completed.ok()) return {};
  std::vector<std::string> uncovered = completed->uncovered;
  // What would be added is not there yet.
  const auto stated = manifest::load_manifest(plugin.manifest);
  if (!stated.ok()) return {};
  for (const auto& [platform, library] : completed->manifest.libraries) {
    const manifest::LibraryEntry* const now = stated->library_for(platform);
    if (library.sha256 && (now == nullptr || !now->sha256)) uncovered.push_back(library.path);
  }
  for (const auto& [path, checksum] : completed->manifest.files) {
    if (!stated->files.contains(path)) uncovered.push_back(path);
  }
  return uncovered;
}

Json signature_json(const InstalledPlugin& plugin) {
  const trust::SignatureState state = signature_of(plugin);
  return {{"state", state.summary()},
          {"key", state.key ? Json(trust::to_text(*state.key)) : Json()},
          {"signed", state.facts.time ? Json(utc_text(*state.facts.time)) : Json()},
          {"expires", state.facts.expires ? Json(utc_text(*state.facts.expires)) : Json()},
          {"problem", state.status.ok() ? Json() : Json(state.status.message())},
          {"not_covered", uncovered_by_signature(plugin, state)}};
}

Json to_json(const PluginDescription& description, const Choice& choice) {
  const InstalledPlugin& plugin = description.plugin;
  Json json = {{"provider", plugin.provider},
               {"name", plugin.name},
               {"vendor", plugin.vendor},
               {"version", plugin.version},
               {"manifest", plugin.manifest},
               {"library", plugin.library},
               {"signature", signature_json(plugin)},
               {"abi", abi_json(plugin.abi)},
               {"negotiated_abi", std::vector{plugin.abi.major, description.abi_minor}},
               {"context_sources", plugin.context_sources},
               {"devices", devices_json(description.devices)},
               {"extensions", description.extensions},
               {"isolation", description.isolation},
               {"sandbox_gaps", description.sandbox_gaps},
               {"recorded", recorded_json(description)},
               {"options", options_json(description, choice)},
               {"options_open", description.options_open}};
  if (choice.is_selected()) json.set("selection", choice_json(choice));
  if (description.operators_status.ok()) {
    json.set("operators", operators_json(description));
  } else {
    json.set("operators_error", status_json(description.operators_status));
  }
  if (!description.device_status.ok()) {
    json.set("device_error", status_json(description.device_status));
  }
  if (!description.provider_status.ok()) {
    json.set("provider_error", status_json(description.provider_status));
    return json;
  }
  json.set("compiles", description.compiles);
  json.set("writes_context", description.writes_context);
  json.set("kernels", kernels_json(description));
  return json;
}

// "/etc/ephost/selection.yaml (system), version >=2, devices npu, gpu:1".
std::string choice_text(const Choice& choice) {
  const ProviderRequest& request = choice.request;
  std::string text = formatted("{} ({})", choice.file.path.native(), choice.file.origin);
  if (!request.version_range.empty()) text += ", version " + request.version_range;
  if (!request.devices.empty()) text += ", devices " + join(request.devices, ", ");
  return text;
}

// "worker, recorded 2026-11-23T09:15:00Z (--refresh runs it again)".
std::string isolation_text(const PluginDescription& description) {
  const std::string time = recorded_text(description);
  if (time.empty()) return description.isolation;
  return formatted("{}, recorded {} (--refresh runs it again)", description.isolation, time);
}

std::string facts_text(const PluginDescription& description, const Choice& choice) {
  const InstalledPlugin& plugin = description.plugin;
  Facts facts;
  facts.add("provider", formatted("{} ({})", plugin.provider, plugin.name));
  facts.add("version", formatted("{} by {}", plugin.version, plugin.vendor));
  facts.add("manifest", plugin.manifest);
  facts.add("library", plugin.library);
  const trust::SignatureState signature = signature_of(plugin);
  facts.add("signature", signature.summary());
  if (signature.is_signed && !signature.status.ok()) {
    facts.add("", printable(signature.status.message()));
  }
  const std::vector<std::string> uncovered = uncovered_by_signature(plugin, signature);
  if (!uncovered.empty()) {
    facts.add("", printable("not covered: " + join(uncovered, ", ")));
  }
  if (choice.is_selected()) facts.add("selected by", choice_text(choice));
  facts.add("ABI", formatted("{}.{} in use, the plugin offers {}", plugin.abi.major,
                             description.abi_minor, abi_text(plugin.abi)));
  if (!plugin.context_sources.empty()) {
    facts.add("context of", join(plugin.context_sources, ", "));
  }
  if (!description.extensions.empty()) {
    facts.add("extensions", join(description.extensions, ", "));
  }
  facts.add("isolation", isolation_text(description));
  for (const std::string& gap : description.sandbox_gaps) facts.add("", gap);
  if (description.provider_status.ok()) {
    facts.add("compiles", description.compiles ? "partitions" : "nothing");
    facts.add("caches", description.writes_context ? "what it compiled" : "nothing");
  }
  return facts.to_text();
}

std::string devices_section(const PluginDescription& plugin) {
  if (!plugin.device_status.ok()) {
    return formatted("\ndevices: {}\n", printable(plugin.device_status.to_string()));
  }
  if (plugin.devices.empty()) return "\nno devices on this machine\n";
  return "\n" + devices_table(plugin.devices, false);
}

std::string options_section(const PluginDescription& plugin, const Choice& choice) {
  if (plugin.options.empty()) return "\nno options\n";
  std::vector<Column> columns = {{"option"},  {"type"},   {"scope"},
                                 {"default"}, {"values"}, {"help"}};
  if (choice.is_selected()) columns.insert(columns.begin() + 4, {"selected"});
  Table table(std::move(columns));
  for (const OptionDescription& option : plugin.options) {
    const std::string values = option.range ? option.range->first + " to " + option.range->second
                                            : join(option.choices, "|");
    std::vector<std::string> row = {option.name,          option.type, option.scope,
                                    option.default_value, values,      option.help};
    if (choice.is_selected()) {
      const std::string* const value = selected_value(choice, option.name);
      row.insert(row.begin() + 4, value == nullptr ? "" : *value);
    }
    table.add_row(std::move(row));
  }
  return "\n" + table.to_text();
}

Result<int> run(const InspectFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  EPHOST_ASSIGN_OR_RETURN(const Choice choice, choose_request(environment, flags));
  InspectOptions how = inspect_options(flags.probe);
  how.session_entries = choice.session_entries;
  const auto inspected = [&] {
    const Activity activity("running " + flags.plugin, flags.report.shows_progress());
    return choice.is_selected() ? inspect_plugin(environment, choice.request, how)
                                : inspect_plugin(environment, flags.plugin, how);
  }();
  EPHOST_RETURN_IF_ERROR(inspected.status());
  const PluginDescription& plugin = *inspected;
  if (flags.report.json()) {
    print(to_text(to_json(plugin, choice)));
  } else {
    print(facts_text(plugin, choice) + devices_section(plugin) + options_section(plugin, choice) +
          operators_section(plugin) + kernels_section(plugin));
  }
  return kExitSuccess;
}

}  // namespace

Command add_inspect(ArgumentParser& root) {
  auto flags = std::make_shared<InspectFlags>();
  ArgumentParser app = root.add_subcommand(
      "inspect", "Load one plugin and show its devices, options, operators and kernels");
  app.add("PLUGIN", flags->plugin, "A manifest file, a provider or its short name")
      .type_name("NAME")
      .required();
  add_probe_flags(app, flags->probe);
  add_selection_flags(app, flags->selection);
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
