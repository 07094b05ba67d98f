// What an Environment holds.
#pragma once

#include <ephost/environment.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "host/bridge/host_services.h"
#include "host/manifest/search.h"
#include "host/plugin/registry.h"
#include "host/session/session_group.h"

namespace ephost {

struct Environment::State {
  std::vector<std::filesystem::path> directories;
  manifest::SearchResult search;
  plugin::Registry registry{plugin::HostOffer{.extensions = bridge::offered_extensions()}};
  session::SessionGroups groups;
};

// What plugins say goes to the host's log.
[[nodiscard]] bridge::PluginLog plugin_log();

}  // namespace ephost
