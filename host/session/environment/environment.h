// Environment: what the sessions of a process share. It knows which plugins are installed and keeps
// those that are loaded.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/metrics.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ephost {

// Cheap to copy; copies are the same environment. Sessions keep it alive. Safe to use from any
// thread.
class Environment {
 public:
  // Reads the manifests; loads nothing. Broken manifests are skipped (`skipped_plugins`).
  static Result<Environment> create(const EnvironmentOptions& options = {});

  // By provider, highest version first, with those that are registered.
  [[nodiscard]] std::vector<InstalledPlugin> plugins() const;
  // Whether the plugin could be loaded, as far as that can be known without running its code: its
  // ABI versions, the extensions that it requires, its library and the checksum of that. The status
  // says what to do. NOT_FOUND for a plugin that is not one of plugins().
  [[nodiscard]] Status check_loadable(const InstalledPlugin& plugin) const;
  // The devices of this machine that the installed providers can use. Loads the plugin of each
  // provider, the highest version that works; a provider that fails is reported in the list.
  [[nodiscard]] Result<EpDeviceList> devices() const;
  // The devices that the installed providers can compile for without having them
  // (ModelCompilationOptions::target).
  [[nodiscard]] Result<EpDeviceList> targets() const;
  [[nodiscard]] std::vector<SkippedPlugin> skipped_plugins() const;

  // Adds one plugin to those of the environment, for sessions that are created afterwards, and
  // keeps it loaded until it is unregistered. `path` is its manifest, or its library with a single
  // manifest beside it. Without a name it is registered under its short name. NO_SUCH_FILE if there
  // is no such file; INVALID_ARGUMENT if the name is taken, the environment has the plugin already,
  // or the file is neither; otherwise fails with what is wrong with the plugin. As ONNX Runtime's
  // function of that name, which takes a library alone.
  [[nodiscard]] Status register_execution_provider_library(
      const std::filesystem::path& path, std::string registration_name = {}) const;
  // Removes such a plugin again. Sessions that use it live on, and its library is unloaded with the
  // last of them. NOT_FOUND if no plugin is registered under that name.
  [[nodiscard]] Status unregister_execution_provider_library(
      const std::string& registration_name) const;

  // In the order of the search. They need not exist.
  [[nodiscard]] std::vector<SearchedDirectory> searched_directories() const;

  [[nodiscard]] std::vector<SessionGroupInfo> session_groups() const;
  // Ends a group without its last session: nothing is written; its sessions live on. NOT_FOUND if
  // there is no such group.
  Status abandon_session_group(const std::string& name) const;

  // What was counted so far. INVALID_ARGUMENT without EnvironmentOptions::metrics.
  [[nodiscard]] Result<MetricsReport> metrics() const;
  // The same in Prometheus' text exposition format, version 0.0.4.
  [[nodiscard]] Result<std::string> prometheus_text() const;

  // For the host's own code.
  struct State;
  [[nodiscard]] State& state() const { return *state_; }

 private:
  explicit Environment(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace ephost
