// Creates the providers of a session: chooses their plugins, loads them, and connects them with the
// application's functions. Called by the pipeline.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/bridge/extensions/host_services.h"
#include "host/bridge/provider.h"
#include "host/manifest/choose.h"
#include "host/plugin/loaded_plugin.h"
#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/early_loader.h"
#include "host/session/environment/environment.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

class GroupSeat;

// Providers may outlive the application's progress and cancellation functions: they are called only
// while this object exists.
class ProviderCreation {
 public:
  // Borrows all; `seat` is null for a session that shares nothing. `purpose`: EPH_PURPOSE_*.
  // `target`: the id of a device to compile for; empty: the session's devices.
  ProviderCreation(EnvironmentState& environment, const GivenOptions& options,
                   const SessionConfig& config, GroupSeat* seat, uint32_t purpose,
                   const std::string& target)
      : environment_(environment),
        options_(options),
        config_(config),
        seat_(seat),
        purpose_(purpose),
        target_(target) {}
  ProviderCreation(const ProviderCreation&) = delete;
  ProviderCreation& operator=(const ProviderCreation&) = delete;
  ~ProviderCreation() { *is_running_ = false; }

  // Begins to load what was asked for by name and goes into workers; `create_all` takes it.
  void begin_loading(const PreparedModel& prepared);
  // Fills in `prepared.providers` in order of priority. The CPU provider is added as the last one
  // unless it was requested, or all nodes are compiled already. If the model may have nodes of
  // domains other than ONNX's, `prepared.operators` gets what the plugins define. INVALID_ARGUMENT
  // if none of them has the target; ENGINE_ERROR if a device that was asked for is not there.
  [[nodiscard]] Status create_all(PreparedModel& prepared);

 private:
  // That of begin_loading, or a new one.
  [[nodiscard]] std::unique_ptr<EarlyLoader> loader_for(const manifest::FoundPlugin& plugin,
                                                        const PreparedModel& prepared);
  Result<std::shared_ptr<bridge::Provider>> create(
      std::shared_ptr<const plugin::LoadedPlugin> plugin, const manifest::ChosenProvider& choice,
      const PreparedModel& prepared, bool& lacks_device) const;
  [[nodiscard]] uint32_t purpose_of(const manifest::Manifest& manifest) const;
  // Fills in the devices that the provider uses, or the target that it compiles for. Says whether
  // it fails because one of the wanted devices is not there.
  Status choose_devices_of(const plugin::LoadedPlugin& plugin, const bridge::HostServices& services,
                           const manifest::ChosenProvider& choice, bridge::ProviderConfig& config,
                           bool& lacks_device) const;
  [[nodiscard]] Status check_target(const PreparedModel& prepared) const;
  [[nodiscard]] bridge::ProgressHooks progress_hooks(const Cancellation& cancellation) const;

  EnvironmentState& environment_;
  const GivenOptions& options_;
  const SessionConfig& config_;
  GroupSeat* seat_;
  uint32_t purpose_;
  const std::string& target_;
  std::vector<std::unique_ptr<EarlyLoader>> begun_;
  std::shared_ptr<std::atomic<bool>> is_running_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace ephost::session
