#include "host/cli/arguments/defaults.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "host/base/environment.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

// The XDG specification requires that relative paths are ignored.
void add_folder(const fs::path& folder, std::string_view origin, std::vector<SelectionFile>& out) {
  if (folder.is_absolute()) out.push_back({folder / "ephost" / "selection.yaml", origin});
}

// Where selections may be, from the user's to the system's.
std::vector<SelectionFile> places() {
  std::vector<SelectionFile> places;
  add_folder(user_folder(UserFolder::kConfig), "user", places);
  const char* const stated = environment_value("XDG_CONFIG_DIRS");
  std::string_view folders = stated == nullptr ? "" : stated;
  if (folders.empty()) folders = "/etc/xdg";
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    add_folder(folders.substr(0, end), "system", places);
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  add_folder("/etc", "system", places);
  return places;
}

// One that cannot be looked at counts: reading it says why.
bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::status(file, ignored).type() != fs::file_type::not_found;
}

SelectionFile find_default() {
  if (const char* const named = environment_value("EPHOST_SELECTION")) {
    return {named, "EPHOST_SELECTION"};
  }
  for (const SelectionFile& place : places()) {
    if (is_there(place.path)) return place;
  }
  return {};
}

}  // namespace

void add_selection_flags(ArgumentParser& app, SelectionFlags& flags) {
  Argument file =
      app.add("--selection", flags.file,
              "Selection file: providers, their options and configuration entries [the one of "
              "EPHOST_SELECTION, of the user or of the system]")
          .type_name("FILE")
          .group("Session");
  app.add_flag("--no-selection", flags.none, "Use no selection file that is not given")
      .group("Session")
      .excludes(file);
}

SelectionFile find_selection(const SelectionFlags& flags) {
  if (!flags.file.empty()) return {flags.file, "given"};
  if (flags.none) return {};
  SelectionFile found = find_default();
  if (!found.path.empty()) {
    log_info(formatted("using the selection {} ({})", quote(found.path.native()), found.origin));
  }
  return found;
}

fs::path default_cache_dir() {
  const char* const folder = environment_value("EPHOST_CACHE_DIR");
  return folder == nullptr ? "" : folder;
}

std::string default_layers() {
  const char* const names = environment_value("EPHOST_LAYERS");
  return names == nullptr ? "" : names;
}

}  // namespace ephost::cli
