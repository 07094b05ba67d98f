#include "host/session/tools/verify_context.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/compatibility.h"
#include "host/context/read/replacement_watch.h"
#include "host/context/read/verify.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/onnx_io/import/import.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/profile_contexts.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/model/model_signature.h"
#include "host/session/plugins/device_choice.h"
#include "host/session/plugins/provider_requests.h"
#include "host/session/plugins/usable_plugin.h"
#include "host/trust/verifier.h"

namespace ephost::session {
namespace {

using Providers = VerifyContextOptions::Providers;

// Nodes without a source go to the first provider that loads contexts at all.
bool accepts(const manifest::FoundPlugin& plugin, const std::string& source) {
  const std::vector<std::string>& sources = plugin.manifest.context_sources;
  return source.empty() ? !sources.empty() : std::ranges::find(sources, source) != sources.end();
}

// What loads the contexts of one source; no plugins: nothing does.
struct Acceptors {
  manifest::Candidates candidates;
  std::vector<std::string> devices;  // that the provider is to use; none: those of a session
};

// The first of the installed providers whose manifest accepts the source.
Acceptors find_acceptors(const manifest::SearchResult& search, const std::string& source) {
  Acceptors acceptors;
  std::vector<manifest::FoundPlugin>& plugins = acceptors.candidates.plugins;
  for (const manifest::FoundPlugin& found : search.found) {
    if (!accepts(found, source)) continue;
    if (!plugins.empty() && plugins.front().manifest.provider != found.manifest.provider) break;
    plugins.push_back(found);
  }
  return acceptors;
}

// The first of the requested ones, which are in their order.
Acceptors find_acceptors(const std::vector<manifest::ChosenProvider>& chosen,
                         const std::string& source) {
  for (const manifest::ChosenProvider& choice : chosen) {
    Acceptors acceptors{.devices = choice.devices};
    std::ranges::copy_if(
        choice.candidates.plugins, std::back_inserter(acceptors.candidates.plugins),
        [&](const manifest::FoundPlugin& plugin) { return accepts(plugin, source); });
    if (!acceptors.candidates.plugins.empty()) return acceptors;
  }
  return {};
}

// What contexts are judged for.
class Judge {
 public:
  // Borrows all three. `config` is of the session that would load the contexts. `device` is an id;
  // empty: the devices that the session would use.
  Judge(EnvironmentState& environment, const SessionConfig& config, const std::string& device)
      : environment_(environment), config_(config), device_(device) {}

  // The verdict of the best plugin that works; nothing if its provider has no device here.
  Result<std::optional<bridge::Compatibility>> ask(const Acceptors& acceptors,
                                                   const std::string& compatibility) {
    return with_usable_plugin(PluginLoader(environment_, &config_), acceptors.candidates,
                              [&](const std::shared_ptr<const plugin::LoadedPlugin>& plugin) {
                                return ask_plugin(*plugin, acceptors.devices, compatibility);
                              });
  }

  // INVALID_ARGUMENT if no provider that was asked has the device.
  [[nodiscard]] Status check_device() const {
    if (device_.empty() || is_known_) return Status::ok_status();
    return Status(StatusCode::kInvalidArgument,
                  formatted("no provider of the model's contexts has a device {}; there are: {}",
                            quote(device_), others_.empty() ? "none" : join(others_, ", ")));
  }

 private:
  Result<std::optional<bridge::Compatibility>> ask_plugin(const plugin::LoadedPlugin& plugin,
                                                          std::span<const std::string> wanted,
                                                          const std::string& compatibility) {
    // As a session has them by default: what a provider makes may depend on their number.
    const uint32_t threads = ThreadPool::default_thread_count();
    const bridge::HostServices services(
        plugin.manifest.provider, plugin_log(), bridge::ProgressHooks{},
        bridge::ThreadOffer{ThreadPool::borrow(environment_.threads), threads, threads});
    EPHOST_ASSIGN_OR_RETURN(const auto devices, devices_of(plugin, services, wanted));
    if (devices.empty()) return std::optional<bridge::Compatibility>();
    EPHOST_ASSIGN_OR_RETURN(const auto verdict,
                            bridge::validate(plugin, services, devices, compatibility));
    return std::optional(verdict);
  }

  Result<std::vector<bridge::DeviceInfo>> devices_of(const plugin::LoadedPlugin& plugin,
                                                     const bridge::HostServices& services,
                                                     std::span<const std::string> wanted) {
    EPHOST_ASSIGN_OR_RETURN(auto listed, bridge::list_devices(plugin, services));
    if (!device_.empty()) {
      EPHOST_ASSIGN_OR_RETURN(const auto targets, bridge::list_targets(plugin, services));
      for (const auto& known : {listed, targets}) {
        for (const bridge::DeviceInfo& device : known) {
          if (device.id == device_) {
            is_known_ = true;
            return std::vector{device};
          }
          others_.insert(formatted("{} of {}", quote(device.id), plugin.manifest.provider));
        }
      }
    }
    return choose_devices(plugin.manifest.provider, std::move(listed), wanted);
  }

  EnvironmentState& environment_;
  const SessionConfig& config_;
  const std::string& device_;
  bool is_known_ = false;
  std::set<std::string> others_;  // devices of the providers that were asked
};

void report_verdict(const Result<std::optional<bridge::Compatibility>>& answer,
                    ContextSourceReport& source, std::vector<std::string>& problems) {
  if (!answer.ok()) {
    source.verdict = "not known";
    problems.push_back(answer.status().to_string());
    return;
  }
  if (!*answer) {
    source.verdict = "not judged: no device here";
    return;
  }
  switch (**answer) {
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
    case bridge::Compatibility::kNotApplicable:
      source.verdict = "not applicable";
      problems.push_back(formatted(
          "{} does not know {} as a text of its own, although its manifest accepts the "
          "source {}; install the plugin that made the context, or compile the model again",
          source.provider, quote(source.compatibility), quote(source.source)));
      return;
  }
}

// The problem that nothing accepts a source.
std::string nobody_accepts(const manifest::SearchResult& search, const std::string& source,
                           bool requested_only) {
  const Acceptors installed = find_acceptors(search, source);
  if (requested_only && !installed.candidates.plugins.empty()) {
    return formatted("none of the requested providers accepts the source {}; {} does: request it",
                     quote(source), installed.candidates.provider());
  }
  return formatted(
      "no installed plugin accepts the source {}; install the provider that made the "
      "model, or give --plugin-path",
      quote(source));
}

// `chosen` is null if all installed providers count; `judge` if no plugin is to be asked.
ContextSourceReport check_source(const manifest::SearchResult& search,
                                 const std::vector<manifest::ChosenProvider>* chosen,
                                 const std::string& name,
                                 const std::optional<std::string>& compatibility, Judge* judge,
                                 std::vector<std::string>& problems) {
  ContextSourceReport source{.source = name, .compatibility = compatibility.value_or("")};
  const Acceptors acceptors =
      chosen != nullptr ? find_acceptors(*chosen, name) : find_acceptors(search, name);
  if (acceptors.candidates.plugins.empty()) {
    source.verdict = "no plugin";
    problems.push_back(nobody_accepts(search, name, chosen != nullptr));
    return source;
  }
  source.provider = acceptors.candidates.provider();
  if (judge == nullptr || !compatibility) {
    source.verdict = judge != nullptr ? "no compatibility stated" : "not asked";
    return source;
  }
  report_verdict(judge->ask(acceptors, *compatibility), source, problems);
  return source;
}

// What one reading of a context model found.
struct Examined {
  context::VerifyReport report;
  trust::SignatureState signature;
  bool is_refused = false;  // because of its signature
  std::vector<std::string> files;
};

Result<Examined> read_and_verify(const std::filesystem::path& path, bool compare_checksums,
                                 const trust::Verifier& verifier) {
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
  // Opened once: the checksums and the signature are compared with the same bytes.
  const trust::ModelFiles files = open_model_files(model, load_options);
  Examined examined{.report = context::verify_context_model(model, load_options)};
  for (const auto& [name, content] : files) examined.files.push_back(name);
  if (!compare_checksums && verifier.policy() == SignaturePolicy::kOff) return examined;
  examined.signature = verifier.examine_model(path, file->bytes(), files);
  const Status status = examined.signature.status.ok() ? check_model_writers(path, load_options)
                                                       : examined.signature.status;
  if (!status.ok() && !examined.report.nodes.empty() &&
      (verifier.policy() == SignaturePolicy::kRequire ||
       (verifier.policy() == SignaturePolicy::kWarn && examined.signature.is_revoked))) {
    examined.is_refused = true;
    examined.report.problems.push_back(status.message());
  }
  return examined;
}

// Reads the model again if it is replaced meanwhile.
Result<Examined> examine(const std::filesystem::path& path, bool compare_checksums,
                         const trust::Verifier& verifier) {
  for (int reading = 1;; ++reading) {
    const context::ReplacementWatch watch(path);
    Result<Examined> examined = read_and_verify(path, compare_checksums, verifier);
    const bool is_sound = examined.ok() && examined->report.ok();
    if (is_sound || reading == context::kMaxReadings || !watch.has_changed()) return examined;
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

// Verifies the specialised models that the context model lists, and adds their nodes and problems.
void examine_specializations(const std::filesystem::path& path, bool compare_checksums,
                             const trust::Verifier& verifier, Examined& out) {
  context::VerifyReport& found = out.report;
  const std::map<std::string, context::ContentChecksum> stated = found.specializations;
  for (const auto& [name, checksum] : stated) {
    const auto problem = [&found, &name = name](const std::string& what) {
      found.problems.push_back(formatted("the specialised model {}: {}", quote(name), what));
    };
    const auto source = open_specialized_model(path.parent_path(), name, checksum, {}, {});
    if (!source.ok()) {
      problem(source.status().message());
      continue;
    }
    Result<Examined> examined = examine(source->path, compare_checksums, verifier);
    if (!examined.ok()) {
      problem(examined.status().message());
      continue;
    }
    context::VerifyReport* const one = &examined->report;
    out.is_refused = out.is_refused || examined->is_refused;
    std::ranges::move(one->nodes, std::back_inserter(found.nodes));
    for (const std::string& text : one->problems) problem(text);
    for (const std::string& text : one->unchecked) found.unchecked.push_back(name + ": " + text);
    found.needs_checksums = found.needs_checksums || one->needs_checksums;
  }
}

// What a session with these requests would have, options included.
Result<std::vector<manifest::ChosenProvider>> choose_requested(
    const manifest::SearchResult& plugins, std::span<const ProviderRequest> requests) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<manifest::ChosenProvider> chosen,
                          choose_providers(plugins, requests));
  for (const manifest::ChosenProvider& choice : chosen) {
    const manifest::Manifest& manifest = choice.candidates.plugins.front().manifest;
    EPHOST_RETURN_IF_ERROR(manifest::validate_options(manifest, choice.options).status());
  }
  if (has_cpu_provider(chosen)) return chosen;
  EPHOST_ASSIGN_OR_RETURN(manifest::ChosenProvider cpu, choose_cpu_provider(plugins));
  chosen.push_back(std::move(cpu));
  return chosen;
}

Result<ContextReport> verify(EnvironmentState& environment, const std::filesystem::path& model,
                             const VerifyContextOptions& options) {
  const trust::Verifier& verifier = environment.registry.verifier();
  EPHOST_ASSIGN_OR_RETURN(Examined examined, examine(model, options.compare_checksums, verifier));
  examine_specializations(model, options.compare_checksums, verifier, examined);
  context::VerifyReport& found = examined.report;
  if (found.nodes.empty() && found.ok()) {
    return Status(StatusCode::kInvalidArgument,
                  quote(model.native()) +
                      " has no EPContext nodes; give a model that \"ephost compile\" wrote");
  }
  ContextReport report{.problems = std::move(found.problems),
                       .unchecked = std::move(found.unchecked),
                       .needs_checksums = found.needs_checksums,
                       .files = std::move(examined.files)};
  for (const auto& [name, checksum] : found.specializations) {
    report.specialized_models.push_back(name);
  }
  if (options.compare_checksums || verifier.policy() != SignaturePolicy::kOff) {
    report.signature = examined.signature.summary();
    report.signature_problem = examined.signature.status.message();
  }
  std::set<std::pair<std::string, std::optional<std::string>>> sources;
  for (const context::VerifiedNode& node : found.nodes) {
    report.nodes.push_back(describe(node));
    sources.emplace(node.source, node.compatibility);
  }
  if (options.providers == Providers::kIgnore) return report;
  EPHOST_ASSIGN_OR_RETURN(const SessionConfig config, read_session_config(options.session_entries));
  const std::shared_ptr<const manifest::SearchResult> plugins = environment.plugins.all();
  EPHOST_RETURN_IF_ERROR(check_named_providers(*plugins, config));
  std::optional<std::vector<manifest::ChosenProvider>> chosen;
  if (options.requests) {
    EPHOST_ASSIGN_OR_RETURN(chosen, choose_requested(*plugins, *options.requests));
  }
  Judge judge(environment, config, options.device);
  // No plugin sees the content of a model whose signature was refused.
  const bool asks = options.providers == Providers::kAsk && !examined.is_refused;
  for (const auto& [source, compatibility] : sources) {
    report.sources.push_back(check_source(*plugins, chosen ? &*chosen : nullptr, source,
                                          compatibility, asks ? &judge : nullptr, report.problems));
  }
  if (asks) EPHOST_RETURN_IF_ERROR(judge.check_device());
  return report;
}

}  // namespace

Result<ContextReport> verify_context(EnvironmentState& environment,
                                     const std::filesystem::path& model,
                                     const VerifyContextOptions& options) {
  const LogScope scope(environment.log);
  return without_exceptions("verifying a context model",
                            [&] { return verify(environment, model, options); });
}

}  // namespace ephost::session
