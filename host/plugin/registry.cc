#include "host/plugin/registry.h"

#include <exception>
#include <string>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/plugin/call.h"
#include "host/plugin/elf_summary.h"
#include "host/plugin/load_lock.h"

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

// The plugin's library, after all checks that need none of its code to run.
Result<MappedFile> check_before_loading(const manifest::FoundPlugin& plugin,
                                        const HostOffer& host) {
  EPHOST_RETURN_IF_ERROR(check_manifest(plugin.manifest, host));
  EPHOST_RETURN_IF_ERROR(manifest::check_loader_path(plugin.library));
  EPHOST_ASSIGN_OR_RETURN(MappedFile library, MappedFile::open(plugin.library));
  EPHOST_RETURN_IF_ERROR(manifest::verify_library_checksum(plugin, library.bytes()));
  EPHOST_RETURN_IF_ERROR(check_file(library, host.build_flags));
  return library;
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

Result<std::shared_ptr<const LoadedPlugin>> negotiate_with(std::shared_ptr<const Library> library,
                                                           const manifest::Manifest& manifest,
                                                           const HostOffer& host) {
  EPHOST_ASSIGN_OR_RETURN(const eph_plugin_preamble* const preamble,
                          ask_for_preamble(*library, manifest.subject()));
  EPHOST_ASSIGN_OR_RETURN(const AdoptedPlugin adopted, negotiate(preamble, manifest, host));
  if ((adopted.preamble.flags & EPH_PLUGIN_STAYS_LOADED) != 0) library->stay_loaded();
  auto loaded = std::make_shared<LoadedPlugin>();
  loaded->library = std::move(library);
  loaded->manifest = manifest;
  loaded->preamble = adopted.preamble;
  loaded->abi_minor = adopted.minor;
  loaded->api = adopted.api;
  loaded->provider = adopted.provider;
  loaded->layer = adopted.layer;
  loaded->api_self = adopted.api_self;
  loaded->provider_self = adopted.provider_self;
  loaded->layer_self = adopted.layer_self;
  return std::shared_ptr<const LoadedPlugin>(std::move(loaded));
}

}  // namespace

Result<std::shared_ptr<const Library>> Registry::open_library(MappedFile file) {
  std::weak_ptr<const Library>& known = libraries_[file.path()];
  if (auto library = known.lock()) return library;
  EPHOST_ASSIGN_OR_RETURN(auto library, Library::open(std::move(file)));
  known = library;
  return library;
}

Result<std::shared_ptr<const LoadedPlugin>> Registry::load_unguarded(
    const manifest::FoundPlugin& plugin) {
  EPHOST_ASSIGN_OR_RETURN(MappedFile file, check_before_loading(plugin, host_));
  EPHOST_ASSIGN_OR_RETURN(auto library, open_library(std::move(file)));
  return negotiate_with(std::move(library), plugin.manifest, host_);
}

Result<std::shared_ptr<const LoadedPlugin>> Registry::load(const manifest::FoundPlugin& plugin) {
  const auto lock = lock_loading();
  const std::filesystem::path& key = plugin.manifest.file;
  if (auto loaded = plugins_[key].lock()) return loaded;
  if (const auto refusal = refusals_.find(key); refusal != refusals_.end()) return refusal->second;
  const std::string subject =
      formatted("{} {}", plugin.manifest.kind == manifest::Kind::kLayer ? "layer" : "provider",
                quote(plugin.manifest.subject()));
  auto loaded = load_unguarded(plugin);
  if (!loaded.ok()) {
    Status reason = std::move(loaded).status().with_context(
        formatted("loading {} from {}, as {} says", subject, quote(plugin.library.native()),
                  quote(key.native())));
    refusals_.emplace(key, reason);
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

Status Registry::check(const manifest::FoundPlugin& plugin) const {
  return check_before_loading(plugin, host_).status();
}

std::vector<Refusal> Registry::refusals() const {
  const auto lock = lock_loading();
  std::vector<Refusal> all;
  for (const auto& [file, reason] : refusals_) all.push_back({file, reason});
  return all;
}

}  // namespace ephost::plugin
