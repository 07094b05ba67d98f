#include "host/plugin/registry.h"

#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/plugin/calls/call.h"
#include "host/plugin/loading/elf_summary.h"
#include "host/plugin/loading/library.h"
#include "host/plugin/loading/load_lock.h"
#include "host/plugin/loading/plugin_files.h"
#include "host/trust/policy.h"

namespace ephost::plugin {
namespace {

// Checks for what would harm the process instead of making the loader fail.
Status check_file(const MappedFile& file, uint64_t host_flags) {
  const ElfSummary summary = summarize_elf(file.bytes());
  if (summary.needed_size == 0) {
    return Status(StatusCode::kEpFail,
                  "the file is not a shared library of this system (64-bit ELF); name the right "
                  "file in the manifest, or install it again");
  }
  if (summary.needed_size > file.bytes().size()) {
    return Status(
        StatusCode::kEpFail,
        formatted(
            "the library is truncated: it has {} bytes and needs {}; copy or install it again",
            file.bytes().size(), summary.needed_size));
  }
  if ((sanitizers_of(summary.needed) & ~host_flags) == 0) return {};
  return Status(StatusCode::kEpFail,
                formatted("the plugin was built with a sanitizer that this host was built without "
                          "(it needs {}); build both alike",
                          join(summary.needed, ", ")));
}

// The plugin's files, after all checks that need none of its code to run.
Result<PluginFiles> check_before_loading(const manifest::FoundPlugin& plugin,
                                         const HostOffer& host) {
  EPHOST_RETURN_IF_ERROR(check_manifest(plugin.manifest, host));
  EPHOST_RETURN_IF_ERROR(manifest::check_loader_path(plugin.library));
  EPHOST_RETURN_IF_ERROR(manifest::check_plugin_owner(plugin.library));
  EPHOST_ASSIGN_OR_RETURN(PluginFiles files, PluginFiles::open(plugin));
  EPHOST_RETURN_IF_ERROR(check_file(files.library(), host.build_flags));
  return files;
}

// Whether the checksums in the manifest cover the library and those beside it that it depends on.
Status covered_by_checksums(const manifest::FoundPlugin& plugin, const MappedFile& library) {
  const manifest::Manifest& manifest = plugin.manifest;
  const auto refuse = [&](std::string_view part, std::string_view key) {
    return Status(
        StatusCode::kEpFail,
        formatted("the signature of the plugin {} does not cover {}, whose SHA-256 is not in "
                  "\"{}\"; sign the manifest again with \"ephost sign\"",
                  quote(manifest.file.native()), quote(part), key));
  };
  const manifest::LibraryEntry* const entry = manifest.library_for(manifest::host_platform());
  if (entry == nullptr || !entry->sha256) return refuse(plugin.library.native(), "sha256");
  const std::filesystem::path folder = std::filesystem::path(entry->path).parent_path();
  for (const std::string& name : summarize_elf(library.bytes()).needed) {
    std::error_code error;
    if (!std::filesystem::exists(plugin.library.parent_path() / name, error)) continue;
    const std::string path = (folder / name).lexically_normal().native();
    if (!manifest.files.contains(path)) return refuse(path, "files");
  }
  return {};
}

// What keeps a signature of the manifest from covering the plugin's files, as far as that is known
// before they are loaded. No variable of the environment lets others change them here.
Status coverage_of(const manifest::FoundPlugin& plugin, const PluginFiles& files) {
  EPHOST_RETURN_IF_ERROR(covered_by_checksums(plugin, files.library()));
  const Status writers = files.check_writers();
  if (writers.ok()) return {};
  return Status(StatusCode::kEpFail,
                formatted("the signature of the plugin {} means nothing: {}; take write access "
                          "from others (chown, chmod go-w)",
                          quote(plugin.manifest.file.native()), writers.message()));
}

Result<const eph_plugin_preamble*> ask_for_preamble(const Library& library,
                                                    std::string_view subject) {
  using EntryPoint = std::remove_pointer_t<eph_plugin_v1_function>;
  auto* const entry_point = library.find_function<EntryPoint>(EPH_PLUGIN_SYMBOL);
  if (entry_point == nullptr) {
    return Status(StatusCode::kEpFail, "the library does not export \"" EPH_PLUGIN_SYMBOL
                                       "\", so it is not a plugin for ABI major version 1; name "
                                       "the right file in the manifest, or "
                                       "install a version of the plugin for this host");
  }
  return call({subject, EPH_PLUGIN_SYMBOL}, entry_point);
}

Result<std::shared_ptr<LoadedPlugin>> negotiate_with(std::shared_ptr<const Library> library,
                                                     const manifest::Manifest& manifest,
                                                     const HostOffer& host) {
  EPHOST_ASSIGN_OR_RETURN(const eph_plugin_preamble* const preamble,
                          ask_for_preamble(*library, manifest.subject()));
  EPHOST_ASSIGN_OR_RETURN(const AdoptedPlugin adopted, negotiate(preamble, manifest, host));
  if ((adopted.preamble.flags & EPH_PLUGIN_STAYS_LOADED) != 0) library->stay_loaded();
  auto loaded = std::make_shared<LoadedPlugin>(LoadedPlugin{adopted});
  loaded->library = std::move(library);
  loaded->manifest = manifest;
  return loaded;
}

}  // namespace

Result<Registry::OpenedLibrary> Registry::open_library(PluginFiles& files, bool listed_only) {
  const LoadTerms terms = files.terms(listed_only);
  std::weak_ptr<const Library>& known = libraries_[files.library().path()];
  if (auto library = known.lock()) {
    EPHOST_ASSIGN_OR_RETURN(std::filesystem::path unlisted,
                            library->compare(files.library(), terms));
    return OpenedLibrary{std::move(library), std::move(unlisted)};
  }
  EPHOST_ASSIGN_OR_RETURN(auto library, Library::open(files.take_library(), terms));
  known = library;
  return OpenedLibrary{library, library->unlisted()};
}

Result<std::shared_ptr<const LoadedPlugin>> Registry::load_unguarded(
    const manifest::FoundPlugin& plugin, SignaturePolicy signatures) {
  EPHOST_ASSIGN_OR_RETURN(PluginFiles files, check_before_loading(plugin, host_));
  Status coverage = coverage_of(plugin, files);
  EPHOST_RETURN_IF_ERROR(check_signature(plugin, files.library().bytes(), coverage, signatures));
  auto crash_record = quarantine_.record_crashes(plugin);
  const bool listed_only = listed_only_ || signatures == SignaturePolicy::kRequire;
  EPHOST_ASSIGN_OR_RETURN(OpenedLibrary opened, open_library(files, listed_only));
  if (coverage.ok() && !opened.unlisted.empty()) {
    coverage = unlisted_library(opened.unlisted);
    EPHOST_RETURN_IF_ERROR(
        check_signature(plugin, opened.library->content(), coverage, signatures));
  }
  EPHOST_ASSIGN_OR_RETURN(auto loaded,
                          negotiate_with(std::move(opened.library), plugin.manifest, host_));
  loaded->crash_record = std::move(crash_record);
  loaded->manifest_text = plugin.text;
  loaded->coverage = coverage;
  return std::shared_ptr<const LoadedPlugin>(std::move(loaded));
}

Status Registry::check_signature(const manifest::FoundPlugin& plugin,
                                 std::span<const std::byte> library, const Status& coverage,
                                 SignaturePolicy signatures) {
  if (signatures == SignaturePolicy::kOff) return {};
  const trust::SignatureState state =
      verifier_.examine_plugin(plugin.manifest, plugin.text, library);
  Status status = state.status.ok() ? coverage : state.status;
  if (status.ok() || signatures == SignaturePolicy::kRequire || state.is_revoked) return status;
  if (warned_.insert(plugin.manifest.file).second) log_warning(status.message());
  return {};
}

Result<std::shared_ptr<const LoadedPlugin>> Registry::load(const manifest::FoundPlugin& plugin,
                                                           SignaturePolicy signatures,
                                                           Quarantined quarantined) {
  const auto lock = lock_loading();
  signatures = trust::strictest(verifier_.policy(), signatures);
  const std::filesystem::path& key = plugin.manifest.file;
  if (auto loaded = plugins_[key].lock()) {
    EPHOST_RETURN_IF_ERROR(
        check_signature({loaded->manifest, loaded->library->path(), loaded->manifest_text},
                        loaded->library->content(), loaded->coverage, signatures));
    return loaded;
  }
  if (const auto refusal = refusals_.find(key); refusal != refusals_.end()) return refusal->second;
  const std::string subject =
      formatted("{} {}", plugin.manifest.kind == manifest::Kind::kLayer ? "layer" : "provider",
                quote(plugin.manifest.subject()));
  const auto doing = [&] {
    return formatted("loading {} from {}, as {} says", subject, quote(plugin.library.native()),
                     quote(key.native()));
  };
  if (Status status = quarantine_.check(plugin, quarantined); !status.ok()) {
    return std::move(status).with_context(doing());
  }
  auto loaded = load_unguarded(plugin, signatures);
  if (!loaded.ok()) {
    Status reason = std::move(loaded).status().with_context(doing());
    // A session that is stricter than the others refuses for itself alone.
    if (signatures == verifier_.policy()) refusals_.emplace(key, reason);
    return reason;
  }
  plugins_[key] = *loaded;
  log_info(formatted("loaded {} for {}", quote(plugin.library.native()), subject));
  return loaded;
}

void Registry::forget(const std::filesystem::path& manifest_file) {
  const auto lock = lock_loading();
  refusals_.erase(manifest_file);
}

Status Registry::check(const manifest::FoundPlugin& plugin, SignaturePolicy signatures,
                       Quarantined quarantined) {
  EPHOST_RETURN_IF_ERROR(quarantine_.check(plugin, quarantined));
  EPHOST_ASSIGN_OR_RETURN(const PluginFiles files, check_before_loading(plugin, host_));
  const auto lock = lock_loading();
  return check_signature(plugin, files.library().bytes(), coverage_of(plugin, files),
                         trust::strictest(verifier_.policy(), signatures));
}

std::vector<Refusal> Registry::refusals() const {
  const auto lock = lock_loading();
  std::vector<Refusal> all;
  for (const auto& [file, reason] : refusals_) all.push_back({file, reason});
  return all;
}

}  // namespace ephost::plugin
