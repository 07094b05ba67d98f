#include "host/session/plugins/plugin_list.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

namespace fs = std::filesystem;

bool is_manifest_name(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

bool is_library(const fs::path& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  return file.ok() && file->bytes().size() > kMagic.size() &&
         std::ranges::equal(file->bytes().first(kMagic.size()), std::as_bytes(std::span(kMagic)));
}

Result<manifest::FoundPlugin> find_by_library(const fs::path& library) {
  manifest::SearchRequest request;
  request.directories = {library.has_parent_path() ? library.parent_path() : "."};
  request.use_environment = false;
  request.use_data_directories = false;
  manifest::SearchResult search = manifest::find_plugins(request);
  std::erase_if(search.found, [&](const manifest::FoundPlugin& found) {
    std::error_code ignored;
    return !fs::equivalent(found.library, library, ignored);
  });
  if (search.found.size() == 1) return std::move(search.found.front());
  if (search.found.empty()) {
    std::string skipped;
    for (const manifest::SkippedManifest& one : search.skipped) {
      skipped += "; skipped: " + one.reason.message();
    }
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} is a shared library, and no manifest beside it names it; give the "
                            "manifest of the plugin, or write one (manifests/SCHEMA.md){}",
                            quote(library.native()), skipped));
  }
  std::vector<std::string> manifests;
  for (const manifest::FoundPlugin& found : search.found) {
    manifests.push_back(quote(found.manifest.file.native()));
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("several manifests name the library {}; give one of {}",
                          quote(library.native()), join(manifests, ", ")));
}

}  // namespace

PluginList::Indexed::Indexed(manifest::SearchResult all) : result(std::move(all)) {
  for (const auto* const plugins : {&result.found, &result.layers}) {
    for (const manifest::FoundPlugin& plugin : *plugins) {
      by_manifest.emplace(plugin.manifest.file, &plugin);
    }
  }
}

void PluginList::set(manifest::SearchResult found) {
  auto all = std::make_shared<const Indexed>(std::move(found));
  const std::lock_guard lock(mutex_);
  all_ = std::move(all);
}

std::shared_ptr<const manifest::SearchResult> PluginList::all() const {
  const std::lock_guard lock(mutex_);
  return {all_, &all_->result};
}

std::shared_ptr<const manifest::FoundPlugin> PluginList::find(const fs::path& manifest) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_->by_manifest.find(manifest);
  if (found == all_->by_manifest.end()) return nullptr;
  return {all_, found->second};
}

Status PluginList::check_new(const std::string& name, const manifest::FoundPlugin& plugin) const {
  const std::lock_guard lock(mutex_);
  return check_new_locked(name, plugin);
}

Status PluginList::check_new_locked(const std::string& name,
                                    const manifest::FoundPlugin& plugin) const {
  if (const auto taken = registered_.find(name); taken != registered_.end()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the registration name {} is taken by {}; give another one, or "
                            "unregister that plugin first",
                            quote(name), quote(taken->second.manifest.native())));
  }
  for (const manifest::FoundPlugin& known : all_->result.found) {
    std::error_code ignored;
    if (!fs::equivalent(known.manifest.file, plugin.manifest.file, ignored)) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("the environment already has the plugin of {}; it need not be "
                            "registered",
                            quote(known.manifest.file.native())));
  }
  return Status::ok_status();
}

Status PluginList::add(std::string name, std::shared_ptr<const plugin::LoadedPlugin> loaded,
                       manifest::FoundPlugin plugin) {
  const std::lock_guard lock(mutex_);
  EPHOST_RETURN_IF_ERROR(check_new_locked(name, plugin));
  manifest::SearchResult all = all_->result;
  registered_.emplace(std::move(name), Registered{std::move(loaded), plugin.manifest.file});
  const auto after = std::ranges::find_if(all.found, [&](const manifest::FoundPlugin& other) {
    const manifest::Manifest& known = other.manifest;
    if (known.provider != plugin.manifest.provider) {
      return known.provider > plugin.manifest.provider;
    }
    return known.version < plugin.manifest.version;
  });
  all.found.insert(after, std::move(plugin));
  all_ = std::make_shared<const Indexed>(std::move(all));
  return Status::ok_status();
}

Result<fs::path> PluginList::remove(const std::string& name) {
  Registered removed;  // unloads its plugin after the mutex is released
  const std::lock_guard lock(mutex_);
  const auto found = registered_.find(name);
  if (found == registered_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, registered] : registered_) names.push_back(quote(known));
    return Status(StatusCode::kNotFound,
                  formatted("no plugin is registered as {}; registered are: {}", quote(name),
                            names.empty() ? "none" : join(names, ", ")));
  }
  manifest::SearchResult all = all_->result;
  std::erase_if(all.found, [&](const manifest::FoundPlugin& plugin) {
    return plugin.manifest.file == found->second.manifest;
  });
  all_ = std::make_shared<const Indexed>(std::move(all));
  removed = std::move(found->second);
  registered_.erase(found);
  return removed.manifest;
}

Result<manifest::FoundPlugin> find_plugin_at(const fs::path& path) {
  std::error_code failure;
  const fs::path absolute = fs::absolute(path, failure);
  if (failure || !fs::exists(absolute, failure)) {
    return Status(
        StatusCode::kNoSuchFile,
        formatted("there is no file {}; give the manifest of a plugin", quote(path.native())));
  }
  if (is_manifest_name(absolute)) return manifest::read_plugin(absolute);
  if (is_library(absolute)) return find_by_library(absolute);
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is neither a plugin manifest (.yaml) nor a shared library; give the "
                          "manifest of a plugin",
                          quote(path.native())));
}

}  // namespace ephost::session
