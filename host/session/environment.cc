#include <ephost/environment.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/session/devices/device_listing.h"
#include "host/session/environment_state.h"
#include "host/session/exception_barrier.h"
#include "host/session/plugin_description.h"

namespace ephost {
namespace {

// Plugins installed with the program that embeds the host: <prefix>/lib/ephost/plugins, next to
// <prefix>/bin.
std::vector<std::filesystem::path> install_directories() {
  std::error_code failure;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  return {executable.parent_path().parent_path() / "lib" / "ephost" / "plugins"};
}

}  // namespace

bridge::PluginLog plugin_log() {
  return [](bridge::Severity severity, std::string_view provider, std::string_view message) {
    const std::string line = formatted("{}: {}", provider, message);
    switch (severity) {
      case bridge::Severity::kDebug:
        break;
      case bridge::Severity::kInfo:
        log_info(line);
        break;
      case bridge::Severity::kWarning:
        log_warning(line);
        break;
      case bridge::Severity::kError:
        log_error(line);
        break;
    }
  };
}

Result<Environment> Environment::create(const EnvironmentOptions& options) {
  return session::without_exceptions("creating an environment", [&]() -> Result<Environment> {
    EPHOST_ASSIGN_OR_RETURN(auto state, State::create(options));
    return Environment(std::move(state));
  });
}

Result<std::shared_ptr<Environment::State>> Environment::State::create(
    const EnvironmentOptions& options) {
  manifest::SearchRequest request;
  request.directories = options.plugin_directories;
  request.use_environment = options.search_default_directories;
  request.use_data_directories = options.search_default_directories;
  if (options.search_default_directories) request.install_directories = install_directories();
  if (options.call_warning < std::chrono::milliseconds(0)) {
    return Status(StatusCode::kInvalidArgument,
                  "EnvironmentOptions::call_warning is negative; give a time, or 0 for none");
  }
  auto state = std::make_shared<State>();
  if (options.crash_handler) state->crash_handler.emplace();
  if (options.call_warning.count() > 0) state->call_watch.emplace(options.call_warning);
  state->search = manifest::find_plugins(request);
  state->host_version = EPHOST_VERSION;
  return state;
}

std::vector<InstalledPlugin> Environment::plugins() const {
  std::vector<InstalledPlugin> plugins;
  for (const manifest::FoundPlugin& found : state_->search.found) {
    plugins.push_back(session::describe_plugin(found));
  }
  return plugins;
}

Status Environment::check_loadable(const InstalledPlugin& plugin) const {
  return session::without_exceptions("checking a plugin", [&] {
    const auto found = std::ranges::find_if(state_->search.found, [&](const auto& one) {
      return one.manifest.file == plugin.manifest;
    });
    if (found == state_->search.found.end()) {
      return Status(
          StatusCode::kNotFound,
          quote(plugin.manifest.native()) + " is not the manifest of a plugin in this environment");
    }
    return state_->registry.check(*found);
  });
}

Result<EpDeviceList> Environment::devices() const {
  return session::without_exceptions("listing devices", [&]() -> Result<EpDeviceList> {
    return session::list_all_devices(state_->search, state_->registry, session::Listing::kDevices);
  });
}

Result<EpDeviceList> Environment::targets() const {
  return session::without_exceptions("listing compilation targets", [&]() -> Result<EpDeviceList> {
    return session::list_all_devices(state_->search, state_->registry, session::Listing::kTargets);
  });
}

std::vector<SkippedPlugin> Environment::skipped_plugins() const {
  std::vector<SkippedPlugin> skipped;
  for (const manifest::SkippedManifest& manifest : state_->search.skipped) {
    skipped.push_back({manifest.file, manifest.reason});
  }
  return skipped;
}

std::vector<SearchedDirectory> Environment::searched_directories() const {
  std::vector<SearchedDirectory> directories;
  for (const manifest::SearchDirectory& searched : state_->search.directories) {
    directories.push_back(
        {searched.path, std::string(manifest::search_origin_name(searched.origin))});
  }
  return directories;
}

std::vector<SessionGroupInfo> Environment::session_groups() const { return state_->groups.list(); }

Status Environment::abandon_session_group(const std::string& name) const {
  if (state_->groups.remove(name)) return Status::ok_status();
  return Status(StatusCode::kNotFound, "there is no session group " + quote(name));
}

}  // namespace ephost
