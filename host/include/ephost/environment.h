// Environment: what the sessions of a process share. It knows which plugins are installed and keeps
// those that are loaded.
#pragma once

#include <ephost/ep_device.h>
#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ephost {

struct EnvironmentOptions {
  // Searched first, in this order.
  std::vector<std::filesystem::path> plugin_directories;
  // Whether EPHOST_PLUGIN_PATH and the data directories of the user and the system are searched
  // too. The environment is ignored in a privileged process whatever this says.
  bool search_default_directories = true;
  // A call of a plugin that takes longer is named in the log, while it goes on: provider, function
  // and node, at this time, at twice this time, and so on. 0: never. With several environments in
  // the process the shortest one counts for all.
  std::chrono::milliseconds call_warning = std::chrono::seconds(10);
  // Whether a crash says on standard error, in one line, which plugin was being called for which
  // node. For that the process has handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT while
  // the environment or a session of it lives. They pass each signal on to the handlers that were
  // there before, and these are put back at the end, unless others have been installed since.
  bool crash_handler = true;
};

// The versions of the plugin ABI that a plugin speaks: one major, a closed range of minors.
struct AbiVersions {
  uint32_t major = 0;
  uint32_t minor_min = 0;
  uint32_t minor_max = 0;
};

// A kind of device that a plugin can drive; texts that its manifest does not state are empty.
struct DeviceKind {
  std::string type;  // "cpu", "gpu", "npu" or "other"
  std::string vendor;
  std::string id;
};

// A plugin as its manifest describes it; nothing of it need be loaded.
struct InstalledPlugin {
  std::string provider;  // e.g. "CPUExecutionProvider"
  std::string name;      // e.g. "cpu"
  std::string vendor;
  std::string version;
  std::filesystem::path manifest;
  std::filesystem::path library;
  AbiVersions abi;
  std::vector<DeviceKind> devices;
  std::vector<std::string> context_sources;  // the values of EPContext's `source` that it accepts
};

// A directory that was searched for plugins.
struct SearchedDirectory {
  std::filesystem::path path;
  std::string origin;  // "given", "EPHOST_PLUGIN_PATH", "user", "system", "installed with ephost"
};

// A manifest that was found and cannot be used.
struct SkippedPlugin {
  std::filesystem::path manifest;
  Status reason;
};

// Sessions that share EP contexts (ep.share_ep_contexts, ep.share_ep_contexts_group), from the
// first one to the one with ep.stop_share_ep_contexts. Generating, the last one writes the context
// models of all; loading, a binary is opened once for all.
struct SessionGroupInfo {
  std::string name;
  // Partitions of loaded binaries that no session has taken yet.
  std::vector<std::string> waiting_partitions;
  // Context models that the last session will write.
  std::vector<std::filesystem::path> unwritten_models;
};

// Cheap to copy; copies are the same environment. Sessions keep it alive. Safe to use from any
// thread.
class Environment {
 public:
  // Reads the manifests; loads nothing. Broken manifests are skipped (`skipped_plugins`).
  static Result<Environment> create(const EnvironmentOptions& options = {});

  // By provider, highest version first.
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
  // In the order of the search. They need not exist.
  [[nodiscard]] std::vector<SearchedDirectory> searched_directories() const;

  [[nodiscard]] std::vector<SessionGroupInfo> session_groups() const;
  // Ends a group without its last session: nothing is written; its sessions live on. NOT_FOUND if
  // there is no such group.
  Status abandon_session_group(const std::string& name) const;

  // For the host's own code.
  struct State;
  [[nodiscard]] State& state() const { return *state_; }

 private:
  explicit Environment(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace ephost
