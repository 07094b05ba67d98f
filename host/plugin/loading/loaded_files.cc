#include "host/plugin/loading/loaded_files.h"

#include <link.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/search.h"
#include "host/plugin/loading/mapped_lines.h"

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
  return Status(StatusCode::kFail, "there is too little memory to list the loaded libraries");
}

bool lies_below(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
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

Status unlisted_library(const fs::path& path) {
  return Status(StatusCode::kEpFail,
                formatted("the library {} lies in the plugin's folder and was loaded with the "
                          "plugin, but its SHA-256 is not in \"files\" of the manifest, so that no "
                          "signature covers it; add it there and sign the manifest again, or "
                          "remove the library",
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

const MappedFile* LoadedFiles::checked_at(const fs::path& path) const {
  if (path == library_.path()) return &library_;
  for (const CheckedFile& checked : terms_.files) {
    if (std::ranges::count(checked.names, path) != 0) return checked.file;
  }
  return nullptr;
}

Status LoadedFiles::judge(const LoadedObject& object, bool is_new, std::string& maps) {
  const fs::path path = fs::path(object.name).lexically_normal();
  const MappedFile* const expected = checked_at(path);
  const bool is_neighbour = is_new && expected != &library_ &&
                            std::ranges::any_of(terms_.folders, [&](const fs::path& one) {
                              return lies_below(one, path);
                            });
  if (expected == nullptr && !is_neighbour) return {};
  if (maps.empty()) {
    EPHOST_ASSIGN_OR_RETURN(maps, read_file("/proc/self/maps"));
  }
  if (expected != nullptr && !is_same_file(object, *expected, maps)) return replaced_library(path);
  has_library_ = has_library_ || expected == &library_;
  if (!is_neighbour) return {};
  neighbours_.push_back(path);
  EPHOST_RETURN_IF_ERROR(manifest::check_plugin_owner(path));
  const bool is_listed = std::ranges::any_of(terms_.files, [&](const CheckedFile& checked) {
    return is_same_file(object, *checked.file, maps);
  });
  if (is_listed) return {};
  if (unlisted_.empty()) unlisted_ = path;
  return terms_.listed_only ? unlisted_library(path) : Status();
}

}  // namespace ephost::plugin
