#include "host/plugin/loading/loaded_files.h"

#include <link.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/search.h"
#include "host/plugin/loading/mapped_lines.h"
#include "host/plugin/loading/private_pages.h"
#include "host/plugin/loading/system_libraries.h"

namespace ephost::plugin {
namespace {

namespace fs = std::filesystem;

uintptr_t first_segment(const dl_phdr_info& info) {
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) return info.dlpi_addr + segment.p_vaddr;
  }
  return info.dlpi_addr;
}

// The loader holds a lock while it calls this.
int add_object(dl_phdr_info* info, size_t, void* out_objects) noexcept {
  try {
    const char* const name = info->dlpi_name != nullptr ? info->dlpi_name : "";
    static_cast<std::set<LoadedObject>*>(out_objects)->insert({first_segment(*info), name});
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

Result<std::set<LoadedObject>> loaded_objects() {
  std::set<LoadedObject> objects;
  if (::dl_iterate_phdr(add_object, &objects) == 0) return objects;
  return Status(StatusCode::kOutOfMemory,
                "there is too little memory to list the loaded libraries");
}

// /proc/self/maps, read when it is needed first.
Status read_maps(std::string& maps) {
  if (!maps.empty()) return {};
  EPHOST_ASSIGN_OR_RETURN(maps, read_file("/proc/self/maps"));
  return {};
}

bool is_same_file(const LoadedObject& object, const MappedFile& file, const std::string& maps) {
  const std::string loaded = file_mapped_at(reinterpret_cast<const void*>(object.address), maps);
  return !loaded.empty() && loaded == file_mapped_at(file.bytes().data(), maps);
}

}  // namespace

Status replaced_library(const fs::path& path) {
  return Status(StatusCode::kEpFail,
                quote(path.native()) +
                    " was replaced while it was being loaded, or since this process loaded it "
                    "before; start the process again");
}

Status unprotected_file(const fs::path& path) {
  return Status(StatusCode::kEpFail,
                formatted("others can write into {}, and nothing keeps them from it while it is "
                          "loaded, so that its SHA-256 means nothing; give the file to root or to "
                          "yourself and take write access from others (chown, chmod go-w), or use "
                          "a copy of the plugin",
                          quote(path.native())));
}

Status unlisted_library(const fs::path& path) {
  return Status(StatusCode::kEpFail,
                formatted("the library {} was loaded with the plugin, but its SHA-256 is not in "
                          "\"files\" of the manifest, so that no signature covers it, and it is "
                          "not one of the system's; put it into the plugin's folder and sign the "
                          "manifest again, or remove the library",
                          quote(path.native())));
}

Result<LoadedFiles> LoadedFiles::create(const MappedFile& library, const LoadTerms& terms,
                                        std::span<const fs::path> own) {
  EPHOST_ASSIGN_OR_RETURN(std::set<LoadedObject> before, loaded_objects());
  std::erase_if(before, [&](const LoadedObject& object) {
    return std::ranges::count(own, fs::path(object.name).lexically_normal()) != 0;
  });
  return LoadedFiles(library, terms, std::move(before));
}

Status LoadedFiles::compare() {
  EPHOST_ASSIGN_OR_RETURN(const std::set<LoadedObject> objects, loaded_objects());
  std::string maps;  // read when it is needed
  added_ = 0;
  for (const LoadedObject& object : objects) {
    if (!judged_.insert(object).second) continue;
    const bool is_new = !before_.contains(object);
    added_ += is_new ? 1 : 0;
    EPHOST_RETURN_IF_ERROR(judge(object, is_new, maps));
  }
  return {};
}

CheckedFile LoadedFiles::checked_at(const fs::path& path) const {
  if (path == library_.path()) return {.names = {}, .file = &library_, .shared = terms_.shared};
  for (const CheckedFile& checked : terms_.files) {
    if (std::ranges::count(checked.names, path) != 0) return checked;
  }
  return {};
}

bool LoadedFiles::is_of_system(const fs::path& path) const {
  std::error_code error;
  const fs::path folder = fs::canonical(path.parent_path(), error);
  const bool is_own = std::ranges::any_of(terms_.folders, [&](const fs::path& own) {
    return lies_below(own, path) || lies_below(own, folder);
  });
  return !error && !is_own && is_system_library(path);
}

Result<bool> LoadedFiles::is_listed(const LoadedObject& object, std::string& maps) const {
  if (terms_.files.empty()) return false;
  EPHOST_RETURN_IF_ERROR(read_maps(maps));
  return std::ranges::any_of(terms_.files, [&](const CheckedFile& checked) {
    return is_same_file(object, *checked.file, maps);
  });
}

Status LoadedFiles::judge(const LoadedObject& object, bool is_new, std::string& maps) {
  if (guards_.contains(object.name)) return {};
  const fs::path path = fs::path(object.name).lexically_normal();
  const CheckedFile expected = checked_at(path);
  const bool is_library = expected.file == &library_;
  if (expected.file != nullptr) {
    EPHOST_RETURN_IF_ERROR(read_maps(maps));
    if (!is_same_file(object, *expected.file, maps)) return replaced_library(path);
  }
  if (is_new && expected.shared != nullptr) {
    EPHOST_RETURN_IF_ERROR(take_private_pages(object.address));
    if (!expected.shared->is_held()) return unprotected_file(path);
  }
  has_library_ = has_library_ || is_library;
  if (!is_new || is_library) return {};
  brought_along_.push_back(path);
  EPHOST_RETURN_IF_ERROR(manifest::check_plugin_owner(path));
  // The path as the loader has it: `..` behind a link leads elsewhere than its text says.
  if (is_of_system(object.name)) return {};
  EPHOST_ASSIGN_OR_RETURN(const bool is_checked, is_listed(object, maps));
  if (is_checked) return {};
  if (unlisted_.empty()) unlisted_ = path;
  return terms_.listed_only ? unlisted_library(path) : Status();
}

}  // namespace ephost::plugin
