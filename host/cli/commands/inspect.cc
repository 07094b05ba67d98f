// `ephost inspect PLUGIN`: loads one plugin and shows what it is: devices, options, kernels.
#include <memory>
#include <system_error>

#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/provider.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/graph/types.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/session/environment_state.h"
#include "host/session/usable_plugin.h"

namespace ephost::cli {
namespace {

struct Flags {
  EnvironmentFlags environment;
  ReportFlags report;
  std::string plugin;
};

struct Inspection {
  std::shared_ptr<const plugin::LoadedPlugin> plugin;
  std::vector<bridge::DeviceInfo> devices;
  Status device_status;
  std::shared_ptr<bridge::Provider> provider;  // null where it could not be created
  Status provider_status;
};

// The plugin that one manifest describes, with all the checks of a search.
Result<manifest::Candidates> find_by_manifest(const std::filesystem::path& file) {
  manifest::SearchRequest request;
  request.directories = {file.has_parent_path() ? file.parent_path() : "."};
  request.use_environment = false;
  request.use_data_directories = false;
  manifest::SearchResult search = manifest::find_plugins(request);
  std::error_code ignored;
  for (manifest::FoundPlugin& found : search.found) {
    if (!std::filesystem::equivalent(found.manifest.file, file, ignored)) continue;
    manifest::Candidates candidates;
    candidates.plugins.push_back(std::move(found));
    return candidates;
  }
  for (const manifest::SkippedManifest& skipped : search.skipped) {
    if (std::filesystem::equivalent(skipped.file, file, ignored)) return skipped.reason;
  }
  return Status(StatusCode::kInvalidArgument, quote(file.native()) +
                                                  " is no plugin manifest; give a .yaml file, a "
                                                  "provider or its short name");
}

Result<manifest::Candidates> find_plugins(const Environment& environment, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored)) return find_by_manifest(name);
  return manifest::find_candidates(environment.state().search, {.name = name});
}

// A plugin whose provider cannot be created is one to look at all the same.
Result<Inspection> inspect(std::shared_ptr<const plugin::LoadedPlugin> plugin) {
  Inspection inspection;
  inspection.plugin = std::move(plugin);
  const std::string& name = inspection.plugin->manifest.provider;
  const bridge::HostServices services(name, plugin_log(), {});
  auto devices = bridge::list_devices(*inspection.plugin, services);
  inspection.device_status = devices.status();
  if (devices.ok()) inspection.devices = std::move(devices).value();
  EPHOST_ASSIGN_OR_RETURN(const auto options,
                          manifest::validate_options(inspection.plugin->manifest, {}));
  auto provider = bridge::Provider::create(
      inspection.plugin, options,
      std::make_unique<bridge::HostServices>(name, plugin_log(), bridge::ProgressHooks{}));
  inspection.provider_status = provider.status();
  if (provider.ok()) inspection.provider = std::move(provider).value();
  return inspection;
}

std::string_view device_type_name(int32_t type) {
  switch (type) {
    case EPH_DEVICE_CPU:
      return "cpu";
    case EPH_DEVICE_GPU:
      return "gpu";
    case EPH_DEVICE_NPU:
      return "npu";
    default:
      return "other";
  }
}

std::string versions_text(const eph_kernel_def& kernel) {
  const std::string since = std::to_string(kernel.since_version);
  if (kernel.since_version == kernel.until_version) return since;
  constexpr int32_t kOpen = std::numeric_limits<int32_t>::max();
  return since + (kernel.until_version == kOpen ? "+" : "-" + std::to_string(kernel.until_version));
}

std::vector<std::string> rule_types(const eph_type_rule& rule) {
  std::vector<std::string> types;
  for (int32_t type = 0; type < 64; ++type) {
    if ((rule.element_types >> type & 1) == 0) continue;
    types.emplace_back(graph::element_type_name(static_cast<ElementType>(type)));
  }
  return types;
}

std::string slot_text(const eph_type_rule& rule) {
  return std::string((rule.flags & EPH_RULE_OUTPUT) != 0 ? "output " : "input ") +
         std::to_string(rule.slot) + ((rule.flags & EPH_RULE_VARIADIC) != 0 ? "..." : "");
}

// "sequence|optional of " for slots that are not for tensors alone.
std::string kinds_text(const eph_type_rule& rule) {
  std::vector<std::string> kinds;
  if ((rule.flags & EPH_RULE_TENSOR) != 0) kinds.emplace_back("tensor");
  if ((rule.flags & EPH_RULE_SEQUENCE) != 0) kinds.emplace_back("sequence");
  if ((rule.flags & EPH_RULE_MAP) != 0) kinds.emplace_back("map");
  if ((rule.flags & EPH_RULE_OPTIONAL) != 0) kinds.emplace_back("optional");
  return kinds.empty() ? "" : join(kinds, "|") + " of ";
}

std::span<const eph_type_rule> rules_of(const eph_kernel_def& kernel) {
  return {kernel.rules, kernel.rules == nullptr ? 0 : static_cast<size_t>(kernel.rule_count)};
}

std::string rules_text(const eph_kernel_def& kernel) {
  std::vector<std::string> parts;
  for (const eph_type_rule& rule : rules_of(kernel)) {
    parts.push_back(slot_text(rule) + ": " + kinds_text(rule) + join(rule_types(rule), "|"));
  }
  return join(parts, ", ");
}

std::string operator_text(const eph_kernel_def& kernel) {
  const std::string domain(bridge::view(kernel.domain));
  const std::string op(bridge::view(kernel.op_type));
  return domain.empty() ? op : domain + "." + op;
}

Json kernels_json(const bridge::Provider& provider) {
  Json kernels = Json::array();
  for (const eph_kernel_def& kernel : provider.kernels().kernels()) {
    Json rules = Json::array();
    for (const eph_type_rule& rule : rules_of(kernel)) {
      rules.push_back({{"slot", slot_text(rule)}, {"types", rule_types(rule)}});
    }
    kernels.push_back({{"op", bridge::view(kernel.op_type)},
                       {"domain", bridge::view(kernel.domain)},
                       {"since_version", kernel.since_version},
                       {"until_version", kernel.until_version},
                       {"types", rules}});
  }
  return kernels;
}

Json options_json(const manifest::Manifest& manifest) {
  Json options = Json::array();
  for (const manifest::OptionSpec& option : manifest.options) {
    Json json = {{"name", option.name},
                 {"type", manifest::option_type_name(option.type)},
                 {"default", manifest::to_text(option.default_value)}};
    if (option.range) {
      json.set("range", std::vector{manifest::to_text(option.range->first),
                                    manifest::to_text(option.range->second)});
    }
    if (!option.choices.empty()) json.set("choices", option.choices);
    json.set("help", option.help);
    options.push_back(std::move(json));
  }
  return options;
}

Json to_json(const Inspection& inspection) {
  const plugin::LoadedPlugin& plugin = *inspection.plugin;
  const manifest::Manifest& manifest = plugin.manifest;
  Json devices = Json::array();
  for (const bridge::DeviceInfo& device : inspection.devices) {
    devices.push_back({{"type", device_type_name(device.type)},
                       {"index", device.index},
                       {"name", device.name},
                       {"vendor", device.vendor},
                       {"architecture", device.architecture},
                       {"driver_version", device.driver_version},
                       {"memory_bytes", device.memory_bytes}});
  }
  Json json = {{"provider", manifest.provider},
               {"name", manifest.name},
               {"vendor", manifest.vendor},
               {"version", manifest.version.to_string()},
               {"manifest", manifest.file.native()},
               {"abi", abi_json(manifest.abi)},
               {"negotiated_abi", std::vector{manifest.abi.major, plugin.abi_minor}},
               {"context_sources", manifest.context_sources},
               {"devices", devices},
               {"options", options_json(manifest)}};
  if (!inspection.device_status.ok())
    json.set("device_error", status_json(inspection.device_status));
  if (inspection.provider == nullptr) {
    json.set("provider_error", status_json(inspection.provider_status));
    return json;
  }
  json.set("compiles", inspection.provider->can_compile());
  json.set("writes_context", inspection.provider->can_write_context());
  json.set("kernels", kernels_json(*inspection.provider));
  return json;
}

std::string facts_text(const Inspection& inspection) {
  const plugin::LoadedPlugin& plugin = *inspection.plugin;
  const manifest::Manifest& manifest = plugin.manifest;
  Facts facts;
  facts.add("provider", manifest.provider + " (" + manifest.name + ")");
  facts.add("version", manifest.version.to_string() + " by " + manifest.vendor);
  facts.add("manifest", manifest.file.native());
  facts.add("ABI", std::to_string(manifest.abi.major) + "." + std::to_string(plugin.abi_minor) +
                       " in use, the plugin offers " + abi_text(manifest.abi));
  if (!manifest.context_sources.empty()) {
    facts.add("context of", join(manifest.context_sources, ", "));
  }
  if (inspection.provider != nullptr) {
    facts.add("compiles", inspection.provider->can_compile() ? "partitions" : "nothing");
    facts.add("caches", inspection.provider->can_write_context() ? "what it compiled" : "nothing");
  }
  return facts.to_text();
}

std::string devices_section(const Inspection& inspection) {
  if (!inspection.device_status.ok()) {
    return "\ndevices: " + printable(inspection.device_status.to_string()) + "\n";
  }
  if (inspection.devices.empty()) return "\nno devices on this machine\n";
  Table table({{"device"}, {"name"}, {"vendor"}, {"architecture"}, {"driver"}, {"memory"}});
  for (const bridge::DeviceInfo& device : inspection.devices) {
    table.add_row({std::string(device_type_name(device.type)) + " " + std::to_string(device.index),
                   device.name, device.vendor, device.architecture, device.driver_version,
                   device.memory_bytes == 0 ? "" : bytes_text(device.memory_bytes)});
  }
  return "\n" + table.to_text();
}

std::string options_section(const manifest::Manifest& manifest) {
  if (manifest.options.empty()) return "\nno options\n";
  Table table({{"option"}, {"type"}, {"default"}, {"values"}, {"help"}});
  for (const manifest::OptionSpec& option : manifest.options) {
    std::string values = join(option.choices, "|");
    if (option.range) {
      values =
          manifest::to_text(option.range->first) + " to " + manifest::to_text(option.range->second);
    }
    table.add_row({option.name, std::string(manifest::option_type_name(option.type)),
                   manifest::to_text(option.default_value), values, option.help});
  }
  return "\n" + table.to_text();
}

std::string kernels_section(const Inspection& inspection) {
  if (inspection.provider == nullptr) {
    return "\nno provider could be created: " + printable(inspection.provider_status.to_string()) +
           "\n";
  }
  const auto kernels = inspection.provider->kernels().kernels();
  if (kernels.empty()) return "\nno kernels for single nodes\n";
  Table table({{"kernel"}, {"versions"}, {"types"}});
  for (const eph_kernel_def& kernel : kernels) {
    table.add_row({operator_text(kernel), versions_text(kernel), rules_text(kernel)});
  }
  return "\n" + table.to_text();
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  EPHOST_ASSIGN_OR_RETURN(const manifest::Candidates candidates,
                          find_plugins(environment, flags.plugin));
  EPHOST_ASSIGN_OR_RETURN(
      const Inspection inspection,
      session::with_usable_plugin(environment.state().registry, candidates, &inspect));
  if (flags.report.json()) {
    print(to_text(to_json(inspection)));
  } else {
    print(facts_text(inspection) + devices_section(inspection) +
          options_section(inspection.plugin->manifest) + kernels_section(inspection));
  }
  return kExitSuccess;
}

}  // namespace

Command add_inspect(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app =
      root.add_subcommand("inspect", "Load one plugin; show its devices, options and kernels");
  app.add("PLUGIN", flags->plugin, "A manifest file, a provider or its short name")
      .type_name("NAME")
      .required();
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
