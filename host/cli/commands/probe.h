// Probes: plugins are run to find out what they offer, for `inspect` and `list --probe`.
#pragma once

#include <ephost/environment.h>
#include <ephost/status.h>
#include <ephost/types/plugin_description.h>

#include <span>
#include <string>
#include <vector>

#include "host/cli/arguments/argument_parser.h"
#include "host/cli/report/json.h"

namespace ephost::cli {

struct ProbeFlags {
  std::string isolation = "worker";
  double call_limit_seconds = 30;
  bool refresh = false;
};

// --isolation, --call-limit and --refresh, which it returns.
std::vector<Argument> add_probe_flags(ArgumentParser& app, ProbeFlags& flags);

[[nodiscard]] InspectOptions inspect_options(const ProbeFlags& flags);

// What each plugin offers, or why it cannot be used, in the order of `plugins`. As many at a time
// as there are processors.
[[nodiscard]] std::vector<Result<PluginDescription>> probe_plugins(
    const Environment& environment, std::span<const InstalledPlugin> plugins,
    const InspectOptions& how);

// What is wrong with a plugin that was probed: the first of what failed. OK if nothing did.
[[nodiscard]] Status problem_of(const Result<PluginDescription>& probe);

// When a description that is not new was recorded: "2026-11-23T09:15:00Z", or nothing and null.
[[nodiscard]] std::string recorded_text(const PluginDescription& description);
[[nodiscard]] Json recorded_json(const PluginDescription& description);

}  // namespace ephost::cli
