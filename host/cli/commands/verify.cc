// `ephost verify MODEL`: checks a context model without running it.
#include <ephost/session.h>
#include <ephost/verify_context.h>

#include <memory>
#include <optional>
#include <set>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/options/on_crash.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"
#include "host/trust/policy.h"

namespace ephost::cli {
namespace {

struct VerifyFlags {
  EnvironmentFlags environment;
  ReportFlags report;
  SelectionFlags selection;
  std::vector<std::string> providers;
  std::filesystem::path model;
  bool no_plugins = false;
  bool load = false;
  std::string device;
};

// A check of a context model, and of loading it if that was asked for.
struct Verification {
  ContextReport report;
  std::optional<Status> loaded;

  [[nodiscard]] bool is_sound() const {
    return report.problems.empty() && report.unchecked.empty() && (!loaded || loaded->ok());
  }
};

// The providers that a session would have.
struct Wanted {
  SessionOptions options;
  bool is_stated = false;  // otherwise all installed ones count
};

Result<Wanted> wanted_by(const VerifyFlags& flags) {
  const SelectionFile selection =
      selection_of(SessionFlags{.selection = flags.selection, .providers = flags.providers});
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, read_selection(selection));
  for (const std::string& name : flags.providers) options.append_execution_provider(name);
  return Wanted{std::move(options), !selection.path.empty() || !flags.providers.empty()};
}

// The flags with the policy for signatures that a session with these options would have.
EnvironmentFlags with_policy(EnvironmentFlags flags, const SessionOptions& options) {
  const auto stated =
      trust::parse_signature_policy(options.config_entry("session.signatures").value_or("off"));
  const auto given = trust::parse_signature_policy(flags.signatures);
  flags.signatures = trust::signature_policy_name(trust::strictest(
      stated.value_or(SignaturePolicy::kOff), given.value_or(SignaturePolicy::kOff)));
  return flags;
}

// What the providers of the report's sources fail at when they restore the contexts.
Status load_contexts(const Environment& environment, const VerifyFlags& flags,
                     const ContextReport& report, Wanted wanted) {
  SessionOptions& options = wanted.options;
  if (!wanted.is_stated) {
    std::set<std::string> names;
    for (const ContextSourceReport& source : report.sources) names.insert(source.provider);
    names.erase("");
    for (const std::string& name : names) options.append_execution_provider(name);
  }
  // A provider that fails has not restored its contexts, even if another one takes over its nodes.
  options.add_config_entry("session.disable_ep_fallback", "1");
  fail_on_crash(options);
  // Nothing is written, whatever a selection sets.
  options.add_config_entry("ep.context_enable", "0");
  for (const char* output :
       {"ep.cache_dir", "session.optimized_model_file_path", "session.profile_file"}) {
    options.add_config_entry(output, "");
  }
  Activity activity("loading " + flags.model.native(), flags.report.shows_progress());
  activity.follow(options);
  return Session::create(environment, flags.model, options).status();
}

Json node_json(const ContextNodeReport& node) {
  Json json = {{"node", node.description},
               {"partition_name", node.partition_name},
               {"source", node.source},
               {"main_context", node.main_context},
               {"primary", node.main_context ? Json() : Json(node.primary)},
               {"embedded", node.embedded},
               {"file", node.file.empty() ? Json() : Json(node.file)},
               {"bytes", node.payload_bytes ? Json(*node.payload_bytes) : Json()},
               {"checksum", node.checksum},
               {"sdk_version", node.sdk_version},
               {"hardware_architecture", node.hardware_architecture}};
  return json;
}

Json to_json(const Verification& verification, const VerifyFlags& flags) {
  const ContextReport& report = verification.report;
  const std::optional<Status>& loaded = verification.loaded;
  Json nodes = Json::array();
  for (const ContextNodeReport& node : report.nodes) nodes.push_back(node_json(node));
  Json sources = Json::array();
  for (const ContextSourceReport& check : report.sources) {
    sources.push_back({{"source", check.source},
                       {"provider", check.provider.empty() ? Json() : Json(check.provider)},
                       {"compatibility", check.compatibility},
                       {"verdict", check.verdict}});
  }
  return {{"model", flags.model.native()},
          {"ok", verification.is_sound()},
          {"nodes", nodes},
          {"sources", sources},
          {"signature", report.signature},
          {"signature_problem",
           report.signature_problem.empty() ? Json() : Json(report.signature_problem)},
          {"files", report.files},
          {"problems", report.problems},
          {"unchecked", report.unchecked},
          {"loaded", loaded ? Json(loaded->ok()) : Json()},
          {"load_error", loaded && !loaded->ok() ? status_json(*loaded) : Json()}};
}

// The last lines about a model without problems.
std::string conclusion(const ContextReport& report) {
  const std::vector<std::string>& unchecked = report.unchecked;
  if (unchecked.empty()) {
    return formatted(
        "the context model is sound: its structure is valid, and all payloads and external files "
        "have the checksums that it gives; {}\n",
        report.signature_problem.empty() ? "the signature covers the model file and all of them"
                                         : "no checksum covers the model file itself");
  }
  std::string text;
  for (const std::string& part : unchecked) text += formatted("no checksum: {}\n", printable(part));
  text +=
      formatted("nothing is wrong with what could be checked; {} without a checksum could not be\n",
                counted(unchecked.size(), "part"));
  if (report.needs_checksums) {
    text +=
        "this host wrote the model, with checksums; sessions refuse it unless "
        "ep.require_checksums is 0\n";
  }
  return text;
}

std::string to_table(const Verification& verification) {
  const ContextReport& report = verification.report;
  Table nodes({{"node"},
               {"partition"},
               {"source"},
               {"kind"},
               {"content in"},
               {"size", Align::kRight},
               {"checksum"}});
  for (const ContextNodeReport& node : report.nodes) {
    nodes.add_row({node.description, node.partition_name, node.source,
                   node.main_context ? "primary" : "of " + node.primary,
                   node.file.empty() ? "the model" : node.file,
                   node.payload_bytes ? bytes_text(*node.payload_bytes) : "", node.checksum});
  }
  Table sources({{"source"}, {"provider"}, {"made for"}, {"compatibility"}});
  for (const ContextSourceReport& check : report.sources) {
    sources.add_row({check.source, check.provider.empty() ? "none" : check.provider,
                     check.compatibility, check.verdict});
  }
  std::string text = nodes.to_text() + "\n" + sources.to_text() + "\n";
  text += formatted("signature: {}\n", printable_line(report.signature));
  for (const std::string& problem : report.problems) {
    text += formatted("problem: {}\n", printable(problem));
  }
  if (report.problems.empty()) text += conclusion(report);
  const std::optional<Status>& loaded = verification.loaded;
  if (loaded && loaded->ok()) text += "a session restores all contexts\n";
  return text;
}

// What a failure of the command says; OK if nothing is wrong.
Status failure_of(const Verification& verification, const VerifyFlags& flags) {
  const ContextReport& report = verification.report;
  const auto others = [](size_t count, std::string_view what) {
    return count == 0 ? "" : formatted(" (and {})", counted(count, what));
  };
  const std::string model = quote(flags.model.native());
  if (!report.problems.empty()) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("{} cannot be loaded: {}{}", model, report.problems.front(),
                            others(report.problems.size() - 1, "further problem")));
  }
  if (verification.loaded && !verification.loaded->ok()) {
    return Status(*verification.loaded).with_context("loading " + model);
  }
  if (report.unchecked.empty()) return Status::ok_status();
  return Status(
      StatusCode::kInvalidGraph,
      formatted("{} has no checksum of {}{}; compile it again to have all of them", model,
                report.unchecked.front(), others(report.unchecked.size() - 1, "further part")));
}

Result<int> run(const VerifyFlags& flags) {
  apply(flags.report);
  apply(flags.environment);
  EPHOST_ASSIGN_OR_RETURN(Wanted wanted, wanted_by(flags));
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(with_policy(flags.environment, wanted.options)));
  const auto providers = flags.no_plugins ? VerifyContextOptions::Providers::kFind
                                          : VerifyContextOptions::Providers::kAsk;
  VerifyContextOptions options{.providers = providers,
                               .device = flags.device,
                               .session_entries = wanted.options.config_entries()};
  if (wanted.is_stated) options.requests = wanted.options.providers();
  Verification verification;
  {
    const Activity activity("verifying " + flags.model.native(), flags.report.shows_progress());
    EPHOST_ASSIGN_OR_RETURN(verification.report, verify_context(environment, flags.model, options));
  }
  if (flags.load && verification.report.problems.empty()) {
    verification.loaded = load_contexts(environment, flags, verification.report, std::move(wanted));
  }
  print(flags.report.json() ? to_text(to_json(verification, flags)) : to_table(verification));
  const Status found = failure_of(verification, flags);
  if (found.ok()) return kExitSuccess;
  print_error(found, kExitFailure);
  return kExitFailure;
}

}  // namespace

Command add_verify(ArgumentParser& root) {
  auto flags = std::make_shared<VerifyFlags>();
  ArgumentParser app =
      root.add_subcommand("verify", "Check the files, checksums and providers of a context model");
  app.footer(
      "Exit status: 0 where everything has its stated checksum, 1 where something is wrong or\n"
      "has no checksum.");
  app.add("MODEL", flags->model, "A context model").type_name("FILE").required();
  Argument no_plugins =
      app.add_flag("--no-plugins", flags->no_plugins, "Load no plugins; use only their manifests");
  Argument device =
      app.add("--device", flags->device,
              "Judge for this device of a provider, which need not be present, instead of those "
              "here")
          .type_name("ID")
          .excludes(no_plugins);
  app.add_flag("--load", flags->load, "Also create a session, which restores every context")
      .excludes(no_plugins)
      .excludes(device);
  app.add("-e,--ep", flags->providers,
          "Provider to check against, in order of priority [all that are installed] (repeatable)")
      .type_name("NAME")
      .repeatable()
      .group("Session");
  add_selection_flags(app, flags->selection);
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
