#include "host/base/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace ephost {
namespace {

namespace fs = std::filesystem;

struct FolderPlace {
  const char* variable;
  std::string_view of_root;  // empty: as that of other users
  std::string_view in_home;
};

FolderPlace place_of(UserFolder folder) {
  switch (folder) {
    case UserFolder::kConfig:
      return {"XDG_CONFIG_HOME", "", ".config"};
    case UserFolder::kData:
      return {"XDG_DATA_HOME", "", ".local/share"};
    case UserFolder::kState:
      return {"XDG_STATE_HOME", "/var/lib", ".local/state"};
    case UserFolder::kCache:
      break;
  }
  return {"XDG_CACHE_HOME", "/var/cache", ".cache"};
}

}  // namespace

bool has_raised_privileges() { return ::getauxval(AT_SECURE) != 0; }

const char* environment_value(const char* name) { return ::secure_getenv(name); }

fs::path environment_folder(const char* name) {
  const char* const value = environment_value(name);
  const fs::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : fs::path();
}

std::vector<std::string> environment_entries() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

fs::path user_folder(UserFolder folder) {
  const FolderPlace place = place_of(folder);
  if (fs::path stated = environment_folder(place.variable); !stated.empty()) return stated;
  if (!place.of_root.empty() && ::geteuid() == 0) return place.of_root;
  const fs::path home = environment_folder("HOME");
  return home.empty() ? home : home / place.in_home;
}

}  // namespace ephost
