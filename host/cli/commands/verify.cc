// `ephost verify MODEL`: checks a context model without running it.
#include <ephost/verify_context.h>

#include <memory>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"

namespace ephost::cli {
namespace {

struct Flags {
  EnvironmentFlags environment;
  ReportFlags report;
  std::filesystem::path model;
  bool no_plugins = false;
  std::string device;
};

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

Json to_json(const ContextReport& report, const Flags& flags) {
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
          {"ok", report.problems.empty() && report.unchecked.empty()},
          {"nodes", nodes},
          {"sources", sources},
          {"problems", report.problems},
          {"unchecked", report.unchecked}};
}

// The last lines about a model without problems.
std::string conclusion(const ContextReport& report) {
  const std::vector<std::string>& unchecked = report.unchecked;
  if (unchecked.empty()) {
    return "the context model is sound: its structure is valid, and all payloads and external "
           "files have the checksums that it states; no checksum covers the model file itself\n";
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

std::string to_table(const ContextReport& report) {
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
  for (const std::string& problem : report.problems) {
    text += formatted("problem: {}\n", printable(problem));
  }
  return report.problems.empty() ? text + conclusion(report) : text;
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  const auto providers = flags.no_plugins ? VerifyContextOptions::Providers::kFind
                                          : VerifyContextOptions::Providers::kAsk;
  EPHOST_ASSIGN_OR_RETURN(
      const ContextReport report,
      verify_context(environment, flags.model, {.providers = providers, .device = flags.device}));
  print(flags.report.json() ? to_text(to_json(report, flags)) : to_table(report));
  if (report.problems.empty()) {
    return report.unchecked.empty() ? kExitSuccess : kExitUnchecked;
  }
  const size_t more = report.problems.size() - 1;
  return Status(
      StatusCode::kInvalidGraph,
      formatted("{} cannot be loaded: {}{}", quote(flags.model.native()), report.problems.front(),
                more == 0 ? "" : formatted(" (and {})", counted(more, "further problem"))));
}

}  // namespace

Command add_verify(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app =
      root.add_subcommand("verify", "Check the files, checksums and providers of a context model");
  app.footer(
      "Exit status: 0 where everything has its stated checksum, 1 where something is wrong,\n"
      "3 where nothing is wrong but something states no checksum and could not be checked.");
  app.add("MODEL", flags->model, "A context model").type_name("FILE").required();
  Argument no_plugins =
      app.add_flag("--no-plugins", flags->no_plugins, "Load no plugins; use only their manifests");
  app.add("--device", flags->device,
          "Judge for this device of a provider, which need not be present, instead of those here")
      .type_name("ID")
      .excludes(no_plugins);
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
