// The registry of plugins: loads those that a search has found when a session first asks for them,
// and remembers why it refused some. A refused plugin never affects the others. Which plugin is
// wanted is decided by host/manifest; providers are called by host/bridge.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "host/manifest/search.h"
#include "host/plugin/loaded_plugin.h"
#include "host/plugin/negotiate.h"
#include "host/plugin/quarantine.h"
#include "host/trust/verifier.h"

namespace ephost::plugin {

class Library;
class PluginFiles;

struct Refusal {
  std::filesystem::path manifest_file;
  Status reason;
};

// Thread-safe; loading is serialised in the whole process.
class Registry {
 public:
  explicit Registry(HostOffer host = {}, Quarantine quarantine = {})
      : host_(std::move(host)), quarantine_(std::move(quarantine)) {}
  // Whose policy applies to every plugin from now on. Not while another thread uses the registry.
  void set_verifier(trust::Verifier verifier) { verifier_ = std::move(verifier); }
  [[nodiscard]] const trust::Verifier& verifier() const { return verifier_; }
  // Refuses libraries that a plugin brings along without listing them, as the signature policy
  // `require` does, from now on and whatever the policy is. Not while another thread uses the
  // registry.
  void load_listed_only() { listed_only_ = true; }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Checks the library against the manifest, including its checksum, loads it and negotiates. A
  // plugin that is still in use, or a library that another provider uses, is not loaded again. A
  // refusal holds until it is forgotten; its message names library, manifest, reason and
  // remedy. A plugin that is quarantined (host/plugin/quarantine.h) is refused for as long as that
  // lasts, unless `quarantined` says that it is used.
  //
  // The stricter of `signatures` and the verifier's policy applies: unless it is `off`, the
  // signature of the manifest is examined before any code of the plugin runs, also where the plugin
  // is loaded already. EP_FAIL if it does not count under `require`; a warning, once, under `warn`.
  // Such a refusal holds for this call alone.
  [[nodiscard]] Result<std::shared_ptr<const LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin, SignaturePolicy signatures = SignaturePolicy::kOff,
      Quarantined quarantined = Quarantined::kRefused);

  // Forgets a refusal, so that the plugin of that manifest may be loaded once it is repaired.
  void forget(const std::filesystem::path& manifest_file);

  // What `load` would refuse without running code of the plugin: ABI version, required extensions,
  // and a library that is missing, truncated, of the wrong kind or without its checksum. Reads the
  // whole library if the manifest has a checksum, and examines the signature as `load` does.
  [[nodiscard]] Status check(const manifest::FoundPlugin& plugin,
                             SignaturePolicy signatures = SignaturePolicy::kOff,
                             Quarantined quarantined = Quarantined::kRefused);

  // Where failures of plugins are recorded.
  [[nodiscard]] const Quarantine& quarantine() const { return quarantine_; }

  // In the order of the manifest files' paths.
  [[nodiscard]] std::vector<Refusal> refusals() const;

 private:
  Result<std::shared_ptr<const LoadedPlugin>> load_unguarded(const manifest::FoundPlugin& plugin,
                                                             SignaturePolicy signatures);
  struct OpenedLibrary {
    std::shared_ptr<const Library> library;
    std::filesystem::path unlisted;  // as Library::unlisted has it, for this plugin
  };
  Result<OpenedLibrary> open_library(PluginFiles& files, bool listed_only);
  // Under the policy `signatures`. `library` is the content of the plugin's library, and `coverage`
  // is as LoadedPlugin has it.
  Status check_signature(const manifest::FoundPlugin& plugin, std::span<const std::byte> library,
                         const Status& coverage, SignaturePolicy signatures);

  HostOffer host_;
  Quarantine quarantine_;
  trust::Verifier verifier_;
  bool listed_only_ = false;
  std::set<std::filesystem::path> warned_;  // the manifests of the plugins that a warning was about
  // Guarded by the load lock. Weak, so that only users keep a plugin loaded.
  std::map<std::filesystem::path, std::weak_ptr<const LoadedPlugin>> plugins_;  // by manifest
  std::map<std::filesystem::path, std::weak_ptr<const Library>> libraries_;
  std::map<std::filesystem::path, Status> refusals_;
};

}  // namespace ephost::plugin
