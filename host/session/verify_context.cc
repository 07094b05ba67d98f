#include <ephost/verify_context.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/provider.h"
#include "host/context/read/replacement_watch.h"
#include "host/context/read/verify.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/onnx_io/import/import.h"
#include "host/session/environment_state.h"
#include "host/session/exception_barrier.h"
#include "host/session/usable_plugin.h"

namespace ephost {
namespace {

using Providers = VerifyContextOptions::Providers;

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

void judge(const Result<bridge::Compatibility>& answer, ContextSourceReport& source,
           std::vector<std::string>& problems) {
  if (!answer.ok()) {
    source.verdict = "not known";
    problems.push_back(answer.status().to_string());
    return;
  }
  switch (*answer) {
    case bridge::Compatibility::kOptimal:
      source.verdict = "optimal";
      return;
    case bridge::Compatibility::kPreferRecompilation:
      source.verdict = "loads, but a new compilation would do better";
      return;
    case bridge::Compatibility::kUnsupported:
      source.verdict = "unsupported";
      problems.push_back(
          formatted("{} cannot load what was made for {}; compile the model again on this machine",
                    source.provider, quote(source.compatibility)));
      return;
  }
}

ContextSourceReport check_source(const Environment& environment, const std::string& name,
                                 const std::optional<std::string>& compatibility, bool ask,
                                 std::vector<std::string>& problems) {
  ContextSourceReport source{.source = name, .compatibility = compatibility.value_or("")};
  const manifest::Candidates acceptors = find_acceptors(environment.state().search, name);
  if (acceptors.plugins.empty()) {
    source.verdict = "no plugin";
    problems.push_back("no installed plugin accepts the source " + quote(name) +
                       "; install the provider that made the model, or give --plugin-path");
    return source;
  }
  source.provider = acceptors.provider();
  if (!ask || !compatibility) {
    source.verdict = ask ? "no compatibility stated" : "not asked";
    return source;
  }
  judge(ask_plugin(environment, acceptors, *compatibility), source, problems);
  return source;
}

Result<context::VerifyReport> read_and_verify(const std::filesystem::path& path,
                                              bool compare_checksums) {
  context::LoadOptions load_options;
  load_options.folder = path.parent_path();
  load_options.verify_checksums = compare_checksums;
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

// Reads the model again if it is replaced meanwhile.
Result<context::VerifyReport> examine(const std::filesystem::path& path, bool compare_checksums) {
  for (int reading = 1;; ++reading) {
    const context::ReplacementWatch watch(path);
    Result<context::VerifyReport> report = read_and_verify(path, compare_checksums);
    const bool is_sound = report.ok() && report->ok();
    if (is_sound || reading == context::kMaxReadings || !watch.has_changed()) return report;
  }
}

ContextNodeReport describe(const context::VerifiedNode& node) {
  return {.description = node.description,
          .partition_name = node.partition_name,
          .source = node.source,
          .main_context = node.main_context,
          .embedded = node.embedded,
          .primary = node.primary,
          .file = node.file,
          .payload_bytes = node.payload_bytes,
          .checksum = std::string(context::checksum_state_name(node.checksum)),
          .sdk_version = node.sdk_version,
          .hardware_architecture = node.hardware_architecture};
}

Result<ContextReport> verify(const Environment& environment, const std::filesystem::path& model,
                             const VerifyContextOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(context::VerifyReport found, examine(model, options.compare_checksums));
  if (found.nodes.empty() && found.ok()) {
    return Status(StatusCode::kInvalidArgument,
                  quote(model.native()) +
                      " has no EPContext nodes; give a model that \"ephost compile\" wrote");
  }
  ContextReport report{.problems = std::move(found.problems),
                       .unchecked = std::move(found.unchecked),
                       .needs_checksums = found.needs_checksums};
  std::map<std::string, std::optional<std::string>> sources;
  for (const context::VerifiedNode& node : found.nodes) {
    report.nodes.push_back(describe(node));
    sources.emplace(node.source, node.compatibility);
  }
  if (options.providers == Providers::kIgnore) return report;
  for (const auto& [source, compatibility] : sources) {
    report.sources.push_back(check_source(environment, source, compatibility,
                                          options.providers == Providers::kAsk, report.problems));
  }
  return report;
}

}  // namespace

Result<ContextReport> verify_context(const Environment& environment,
                                     const std::filesystem::path& model,
                                     const VerifyContextOptions& options) {
  return session::without_exceptions("verifying a context model",
                                     [&] { return verify(environment, model, options); });
}

}  // namespace ephost
