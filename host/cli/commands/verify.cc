// `ephost verify MODEL`: checks a context model without running it. Its files and checksums are
// checked by host/context; here it is decided whether what is installed can load it.
#include "host/context/read/verify.h"

#include <algorithm>
#include <map>
#include <memory>

#include "host/base/files/file.h"
#include "host/base/text.h"
#include "host/bridge/provider.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/context/read/replacement_watch.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/onnx_io/import/import.h"
#include "host/session/environment_state.h"
#include "host/session/usable_plugin.h"

namespace ephost::cli {
namespace {

struct Flags {
  EnvironmentFlags environment;
  ReportFlags report;
  std::filesystem::path model;
  bool no_plugins = false;
};

// What becomes of the nodes of one source.
struct SourceCheck {
  std::string source;
  std::string compatibility;  // as the model states it
  std::string provider;       // that accepts the source; empty: none is installed
  std::string verdict;
  std::string problem;  // empty: it can be loaded
};

struct Verification {
  context::VerifyReport report;
  std::vector<SourceCheck> sources;
  std::vector<std::string> problems;
};

// The first provider whose manifest accepts the source. Nodes that state no source go to the first
// provider that loads contexts at all.
manifest::Candidates find_acceptors(const manifest::SearchResult& search,
                                    const std::string& source) {
  manifest::Candidates acceptors;
  for (const manifest::FoundPlugin& found : search.found) {
    const std::vector<std::string>& sources = found.manifest.context_sources;
    const bool accepts =
        source.empty() ? !sources.empty() : std::ranges::find(sources, source) != sources.end();
    if (!accepts) continue;
    if (!acceptors.plugins.empty() && acceptors.provider() != found.manifest.provider) break;
    acceptors.plugins.push_back(found);
  }
  return acceptors;
}

Result<std::shared_ptr<bridge::Provider>> create_provider(
    const Environment& environment, std::shared_ptr<const plugin::LoadedPlugin> plugin) {
  const manifest::Manifest& manifest = plugin->manifest;
  EPHOST_ASSIGN_OR_RETURN(const auto options, manifest::validate_options(manifest, {}));
  // As a session has them by default: what a provider makes may depend on their number.
  const uint32_t threads = ThreadPool::default_thread_count();
  auto services = std::make_unique<bridge::HostServices>(
      manifest.provider, plugin_log(), bridge::ProgressHooks{},
      bridge::ThreadOffer{&environment.state().threads, threads, threads});
  return bridge::Provider::create(std::move(plugin), options, std::move(services));
}

Result<bridge::Compatibility> ask_plugin(const Environment& environment,
                                         const manifest::Candidates& acceptors,
                                         const std::string& compatibility) {
  const auto create = [&](std::shared_ptr<const plugin::LoadedPlugin> plugin) {
    return create_provider(environment, std::move(plugin));
  };
  EPHOST_ASSIGN_OR_RETURN(
      const auto provider,
      session::with_usable_plugin(environment.state().registry, acceptors, create));
  return provider->validate_compatibility(compatibility);
}

void judge(const Result<bridge::Compatibility>& answer, SourceCheck& check) {
  if (!answer.ok()) {
    check.verdict = "not known";
    check.problem = answer.status().to_string();
    return;
  }
  switch (*answer) {
    case bridge::Compatibility::kOptimal:
      check.verdict = "optimal";
      return;
    case bridge::Compatibility::kPreferRecompilation:
      check.verdict = "loads, but a new compilation would do better";
      return;
    case bridge::Compatibility::kUnsupported:
      check.verdict = "unsupported";
      check.problem = check.provider + " cannot load what was made for " +
                      quote(check.compatibility) + "; compile the model again on this machine";
      return;
  }
}

SourceCheck check_source(const Environment& environment, const std::string& source,
                         const std::optional<std::string>& compatibility, bool no_plugins) {
  SourceCheck check{.source = source, .compatibility = compatibility.value_or("")};
  const manifest::Candidates acceptors = find_acceptors(environment.state().search, source);
  if (acceptors.plugins.empty()) {
    check.verdict = "no plugin";
    check.problem = "no installed plugin accepts the source " + quote(source) +
                    "; install the provider that made the model, or give --plugin-path";
    return check;
  }
  check.provider = acceptors.provider();
  if (no_plugins || !compatibility) {
    check.verdict = no_plugins ? "not asked" : "no compatibility stated";
    return check;
  }
  judge(ask_plugin(environment, acceptors, *compatibility), check);
  return check;
}

Result<context::VerifyReport> read_and_verify(const std::filesystem::path& path) {
  context::LoadOptions load_options;
  load_options.folder = path.parent_path();
  EPHOST_ASSIGN_OR_RETURN(MappedFile opened, MappedFile::open(path));
  const auto file = std::make_shared<const MappedFile>(std::move(opened));
  load_options.files = context::find_superseded_initializers(file->bytes(), load_options);
  onnx_io::ImportOptions import_options;
  import_options.infer_shapes = false;
  import_options.external_files = load_options.files;
  onnx_io::ImportReport read;
  EPHOST_ASSIGN_OR_RETURN(const graph::Model model,
                          onnx_io::import_model(file, import_options, &read));
  load_options.files = std::move(read.external_data);
  load_options.unchecked_external_data = std::move(read.unchecked_external_data);
  return context::verify_context_model(model, load_options);
}

// Reads again what was replaced meanwhile.
Result<context::VerifyReport> examine(const std::filesystem::path& path) {
  for (int reading = 1;; ++reading) {
    const context::ReplacementWatch watch(path);
    Result<context::VerifyReport> report = read_and_verify(path);
    const bool is_sound = report.ok() && report->ok();
    if (is_sound || reading == context::kMaxReadings || !watch.has_changed()) return report;
  }
}

Result<Verification> verify(const Environment& environment, const Flags& flags) {
  Verification verification;
  EPHOST_ASSIGN_OR_RETURN(verification.report, examine(flags.model));
  if (verification.report.nodes.empty() && verification.report.ok()) {
    return Status(StatusCode::kInvalidArgument,
                  quote(flags.model.native()) +
                      " has no EPContext nodes; give a model that \"ephost compile\" wrote");
  }
  verification.problems = verification.report.problems;
  std::map<std::string, std::optional<std::string>> sources;
  for (const context::VerifiedNode& node : verification.report.nodes) {
    sources.emplace(node.source, node.compatibility);
  }
  for (const auto& [source, compatibility] : sources) {
    SourceCheck check = check_source(environment, source, compatibility, flags.no_plugins);
    if (!check.problem.empty()) verification.problems.push_back(check.problem);
    verification.sources.push_back(std::move(check));
  }
  return verification;
}

Json node_json(const context::VerifiedNode& node) {
  Json json = {{"node", node.description},
               {"partition_name", node.partition_name},
               {"source", node.source},
               {"main_context", node.main_context},
               {"primary", node.main_context ? Json() : Json(node.primary)},
               {"embedded", node.embedded},
               {"file", node.file.empty() ? Json() : Json(node.file)},
               {"bytes", node.payload_bytes ? Json(*node.payload_bytes) : Json()},
               {"checksum", context::checksum_state_name(node.checksum)},
               {"sdk_version", node.sdk_version},
               {"hardware_architecture", node.hardware_architecture}};
  return json;
}

Json to_json(const Verification& verification, const Flags& flags) {
  Json nodes = Json::array();
  for (const auto& node : verification.report.nodes) nodes.push_back(node_json(node));
  Json sources = Json::array();
  for (const SourceCheck& check : verification.sources) {
    sources.push_back({{"source", check.source},
                       {"provider", check.provider.empty() ? Json() : Json(check.provider)},
                       {"compatibility", check.compatibility},
                       {"verdict", check.verdict}});
  }
  return {{"model", flags.model.native()},
          {"ok", verification.problems.empty() && verification.report.unchecked.empty()},
          {"nodes", nodes},
          {"sources", sources},
          {"problems", verification.problems},
          {"unchecked", verification.report.unchecked}};
}

// What is said in the end of a model that nothing is wrong with.
std::string conclusion(const context::VerifyReport& report) {
  const std::vector<std::string>& unchecked = report.unchecked;
  if (unchecked.empty()) {
    return "the context model is sound: its structure is valid, and all payloads and external "
           "files have the checksums that it states; no checksum covers the model file itself\n";
  }
  std::string text;
  for (const std::string& part : unchecked) text += "no checksum: " + printable(part) + "\n";
  text += "nothing is wrong with what could be checked; " + counted(unchecked.size(), "part") +
          " without a checksum could not be\n";
  if (report.needs_checksums) {
    text +=
        "this host wrote the model, with checksums; sessions refuse it unless "
        "ep.require_checksums is 0\n";
  }
  return text;
}

std::string to_table(const Verification& verification) {
  Table nodes({{"node"},
               {"partition"},
               {"source"},
               {"kind"},
               {"content in"},
               {"size", Align::kRight},
               {"checksum"}});
  for (const context::VerifiedNode& node : verification.report.nodes) {
    nodes.add_row({node.description, node.partition_name, node.source,
                   node.main_context ? "primary" : "of " + node.primary,
                   node.file.empty() ? "the model" : node.file,
                   node.payload_bytes ? bytes_text(*node.payload_bytes) : "",
                   std::string(context::checksum_state_name(node.checksum))});
  }
  Table sources({{"source"}, {"provider"}, {"compatibility"}});
  for (const SourceCheck& check : verification.sources) {
    sources.add_row(
        {check.source, check.provider.empty() ? "none" : check.provider, check.verdict});
  }
  std::string text = nodes.to_text() + "\n" + sources.to_text() + "\n";
  for (const std::string& problem : verification.problems) {
    text += "problem: " + printable(problem) + "\n";
  }
  return verification.problems.empty() ? text + conclusion(verification.report) : text;
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  EPHOST_ASSIGN_OR_RETURN(const Verification verification, verify(environment, flags));
  print(flags.report.json() ? to_text(to_json(verification, flags)) : to_table(verification));
  if (verification.problems.empty()) {
    return verification.report.unchecked.empty() ? kExitSuccess : kExitUnchecked;
  }
  const size_t more = verification.problems.size() - 1;
  return Status(StatusCode::kInvalidGraph,
                quote(flags.model.native()) +
                    " cannot be loaded: " + verification.problems.front() +
                    (more == 0 ? "" : " (and " + counted(more, "further problem") + ")"));
}

}  // namespace

Command add_verify(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app =
      root.add_subcommand("verify", "Check a context model: files, checksums, providers");
  app.footer(
      "Exit status: 0 where everything has its stated checksum, 1 where something is wrong,\n"
      "3 where nothing is wrong but something states no checksum and could not be checked.");
  app.add("MODEL", flags->model, "A context model").type_name("FILE").required();
  app.add_flag("--no-plugins", flags->no_plugins, "Load no plugin; go by the manifests alone");
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
