// `ephost validate MANIFEST|DIR`: tries a plugin against the rules of the plugin interface. Loads
// no plugin: each check runs in a process of the conformance kit.
#include <algorithm>
#include <memory>
#include <random>
#include <system_error>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/arguments/interrupt.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/output.h"
#include "host/cli/shell/command.h"
#include "host/cli/validate/harness.h"
#include "host/cli/validate/reports.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

struct ValidateFlags {
  ReportFlags report;
  fs::path path;
  std::string level = "basic";
  std::string isolation = "none";
  std::vector<std::string> checks;
  std::vector<std::string> providers;
  std::vector<fs::path> plugin_paths;
  bool list = false;
  std::optional<uint64_t> seed;
  std::optional<uint32_t> time_factor;
  fs::path exclusions;
  fs::path data;
  uint32_t jobs = 2;
  std::optional<uint32_t> deadline_seconds;
  fs::path junit;
  fs::path html;
  bool output_on_failure = false;
};

// Those that --ep names, by type name or short name; all without it.
Result<std::vector<KitPlugin>> choose_plugins(std::vector<KitPlugin> plugins,
                                              const std::vector<std::string>& names) {
  if (names.empty()) return plugins;
  const auto is_named = [](const KitPlugin& plugin, const std::string& name) {
    return equal_ignoring_case(plugin.name, name) || equal_ignoring_case(plugin.provider, name);
  };
  for (const std::string& name : names) {
    if (std::ranges::any_of(plugins, [&](const auto& one) { return is_named(one, name); }))
      continue;
    std::vector<std::string> known;
    for (const KitPlugin& one : plugins) known.push_back(one.name);
    return Status(StatusCode::kInvalidArgument,
                  formatted("--ep {} is not one of the providers there, which are {}", quote(name),
                            join(known, ", ")));
  }
  std::erase_if(plugins, [&](const KitPlugin& plugin) {
    return std::ranges::none_of(names, [&](const auto& name) { return is_named(plugin, name); });
  });
  return plugins;
}

// The file of --exclusions, or NAME.exclusions.yaml beside the manifest if there is one.
Result<std::vector<Exclusion>> read_exclusions(const Kit& kit, const KitPlugin& plugin,
                                               const ValidateFlags& flags) {
  fs::path file = flags.exclusions;
  if (file.empty()) {
    file = plugin.manifest.parent_path() / (plugin.name + ".exclusions.yaml");
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::vector<Exclusion>();
  }
  return kit.exclusions(file);
}

uint64_t new_seed() {
  std::random_device source;
  return source();
}

// A check that is run again has to come at least as far as it did the first time, however busy the
// machine is.
uint32_t time_factor_of(const ValidateFlags& flags) {
  constexpr uint32_t kToReproduce = 20;
  if (flags.time_factor) return *flags.time_factor;
  return flags.seed && !flags.checks.empty() ? kToReproduce : 1;
}

// The options that decide what a check does, besides those that all runs state.
std::vector<std::string> stated_options(const ValidateFlags& flags) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const fs::path& path) {
    std::error_code ignored;
    words.insert(words.end(), {name, fs::absolute(path, ignored).native()});
  };
  if (flags.isolation != "none") words.insert(words.end(), {"--isolation", flags.isolation});
  for (const fs::path& path : flags.plugin_paths) add("--plugin-path", path);
  if (!flags.data.empty()) add("--data", flags.data);
  if (!flags.exclusions.empty()) add("--exclusions", flags.exclusions);
  return words;
}

Result<HarnessOptions> harness_options(const Kit& kit, const ValidateFlags& flags) {
  HarnessOptions options{.level = flags.level,
                         .isolation = flags.isolation,
                         .seed = flags.seed ? *flags.seed : new_seed(),
                         .time_factor = time_factor_of(flags),
                         .jobs = flags.jobs,
                         .stated = stated_options(flags)};
  std::error_code ignored;
  options.data = fs::absolute(flags.data.empty() ? kit.data() : flags.data, ignored);
  for (const fs::path& path : flags.plugin_paths) {
    options.plugin_paths.push_back(fs::absolute(path, ignored));
  }
  if (flags.data.empty() || fs::is_directory(flags.data, ignored)) return options;
  return Status(StatusCode::kNoSuchFile,
                formatted("--data {} is not a folder", quote(flags.data.native())));
}

Status write_files(const ValidateFlags& flags, const std::vector<PluginResults>& all) {
  if (!flags.junit.empty()) {
    EPHOST_RETURN_IF_ERROR(write_text(flags.junit, results_junit(all)));
  }
  if (flags.html.empty()) return Status::ok_status();
  return write_text(flags.html, results_page(all));
}

Result<PluginResults> validate(const Kit& kit, const KitPlugin& plugin,
                               const std::vector<KitCheck>& checks, const HarnessOptions& options,
                               const ValidateFlags& flags, const Interrupt& interrupt) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Exclusion> exclusions,
                          read_exclusions(kit, plugin, flags));
  Activity line(formatted("checking {}", plugin.name), flags.report.shows_progress());
  return run_checks(kit, plugin, checks, exclusions, options, *interrupt.flag(),
                    [&](std::string what) { line.update(std::move(what)); });
}

Result<std::vector<KitCheck>> checks_to_run(const Kit& kit, const ValidateFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<KitCheck> all, kit.checks());
  // A check that is named runs on either level.
  if (flags.checks.empty() && flags.level == "basic") {
    std::erase_if(all, [](const KitCheck& check) { return !check.is_basic; });
  }
  for (KitCheck& check : all) {
    check.deadline *= time_factor_of(flags);
    if (flags.deadline_seconds) check.deadline = std::chrono::seconds(*flags.deadline_seconds);
  }
  return choose_checks(std::move(all), flags.checks);
}

Result<int> list_checks(const Kit& kit, const ValidateFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<KitCheck> all, kit.checks());
  EPHOST_ASSIGN_OR_RETURN(const std::vector<KitCheck> checks,
                          choose_checks(std::move(all), flags.checks));
  print(flags.report.json() ? to_text(checks_json(checks)) : checks_text(checks));
  return kExitSuccess;
}

Result<int> run(const ValidateFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Kit kit, Kit::find());
  if (flags.list) return list_checks(kit, flags);
  EPHOST_ASSIGN_OR_RETURN(const std::vector<KitCheck> checks, checks_to_run(kit, flags));
  EPHOST_ASSIGN_OR_RETURN(std::vector<KitPlugin> found, kit.plugins(flags.path));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<KitPlugin> plugins,
                          choose_plugins(std::move(found), flags.providers));
  EPHOST_ASSIGN_OR_RETURN(const HarnessOptions options, harness_options(kit, flags));
  const Interrupt interrupt;
  std::vector<PluginResults> all;
  for (const KitPlugin& plugin : plugins) {
    EPHOST_ASSIGN_OR_RETURN(PluginResults results,
                            validate(kit, plugin, checks, options, flags, interrupt));
    if (!flags.report.json()) print(results_text(results, flags.output_on_failure));
    all.push_back(std::move(results));
  }
  if (flags.report.json()) print(to_text(results_json(all)));
  EPHOST_RETURN_IF_ERROR(write_files(flags, all));
  if (*interrupt.flag()) {
    return Status(StatusCode::kCancelled,
                  "the checks were interrupted; the report has those that had ended by then");
  }
  return std::ranges::all_of(all, &PluginResults::has_passed) ? kExitSuccess : kExitFailure;
}

void add_check_options(ArgumentParser& app, ValidateFlags& flags) {
  app.add("--level", flags.level, "How thoroughly: in seconds, or in minutes")
      .one_of({"basic", "full"})
      .show_default();
  app.add("--isolation", flags.isolation,
          "Where the sessions of the checks run the plugin; checks that load the library "
          "themselves are not affected")
      .one_of({"none", "worker", "sandbox"})
      .show_default();
  app.add("--check", flags.checks,
          "Only this check, by id (27.3) or name, or those of this rule (27) (repeatable)")
      .type_name("CHECK")
      .repeatable();
  app.add("-e,--ep", flags.providers, "Only the plugin of this provider (repeatable)")
      .type_name("NAME")
      .repeatable();
  app.add("--plugin-path", flags.plugin_paths,
          "Search this directory for plugins that the checks need besides (repeatable)")
      .type_name("DIR")
      .repeatable();
  app.add("--exclusions", flags.exclusions,
          "Checks that may fail, with reasons [NAME.exclusions.yaml beside the manifest]")
      .type_name("FILE");
  app.add("--reproduce", flags.seed, "Make the random choices of the run that reported this seed")
      .type_name("SEED");
  app.add("--time-factor", flags.time_factor,
          "Let searches and repetitions take so many times as long [20 with --reproduce and "
          "--check, otherwise 1]")
      .type_name("N")
      .positive();
  app.add("--data", flags.data, "Use the test data in this folder instead of that of the kit")
      .type_name("DIR");
  app.add("--deadline", flags.deadline_seconds,
          "End each check that takes longer than this [each has a deadline of its own]")
      .type_name("SECONDS")
      .positive();
  app.add("-j,--jobs", flags.jobs, "Number of checks to run at the same time")
      .type_name("N")
      .positive()
      .show_default();
}

}  // namespace

Command add_validate(ArgumentParser& root) {
  auto flags = std::make_shared<ValidateFlags>();
  ArgumentParser app =
      root.add_subcommand("validate", "Try a plugin against the rules of the plugin interface");
  Argument path =
      app.add("MANIFEST|DIR", flags->path, "Manifest of a plugin, or a folder with some")
          .type_name("PATH");
  Argument list = app.add_flag("--list", flags->list, "List the checks, and run none");
  app.require_either(path, list, "MANIFEST|DIR or --list");
  add_check_options(app, *flags);
  app.add_flag("--output-on-failure", flags->output_on_failure,
               "Show what was printed during the checks that failed");
  app.add("--junit", flags->junit, "Write the results to this file, as JUnit's XML")
      .type_name("FILE");
  app.add("--html", flags->html, "Write the results to this file, as an HTML page")
      .type_name("FILE");
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
