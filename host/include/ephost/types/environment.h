// Plain values about an environment: its options, and the plugins that it knows.
#pragma once

#include <ephost/status.h>
#include <ephost/types/logging.h>
#include <ephost/types/threading_options.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ephost {

// What becomes of plugins and context models without a valid signature of somebody whom the user or
// the machine trusts.
enum class SignaturePolicy {
  kOff,      // signatures are not looked at
  kWarn,     // they are used, with a warning each
  kRequire,  // they are refused
};

// How far plugins are kept apart from the host, from the least strict to the strictest.
enum class Isolation {
  kNone,     // the plugin's library is loaded into the process of the host
  kWorker,   // into a process of its own
  kSandbox,  // which may use nothing but what the plugin needs
};

struct EnvironmentOptions {
  // Searched first, in this order.
  std::vector<std::string> plugin_directories;
  // Whether EPHOST_PLUGIN_PATH and the data directories of the user and the system are searched
  // too. The environment is ignored in a privileged process whatever this says.
  bool search_default_directories = true;
  // A call of a plugin that takes longer is named in the log, while it lasts: provider, function
  // and node, at this time, at twice this time, and so on. 0: never. With several environments in
  // the process the shortest one counts for all.
  std::chrono::milliseconds call_warning = std::chrono::seconds(10);
  // Whether a crash says on standard error which plugin was being called for which node, and counts
  // towards its quarantine. For that the process has handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE
  // and SIGABRT while the environment or a session of it lives. They pass each signal on to those
  // that were there before, which are put back at the end, unless others were installed since.
  bool crash_handler = true;
  // The threads that the sessions share.
  ThreadingOptions threading = {};
  // Receives the messages of the environment, its sessions and their plugins, in place of standard
  // error, where equal warnings and errors of a session are counted and summed up, and the
  // environment variable EPHOST_LOG_FORMAT chooses text or JSON. Not called any more once the
  // environment and its sessions are gone. What belongs to no environment, such as a
  // thread of a plugin's own that outlives its session's providers, goes to standard error, as do
  // crashes.
  LoggingFunction logging_function = {};
  // Messages below it are dropped. Not set: what the environment variable EPHOST_LOG_LEVEL says, or
  // else warnings and errors are not dropped.
  std::optional<LoggingLevel> log_severity_level = {};
  // Names the environment in its messages; any text.
  std::string log_id = {};
  // Counts sessions, compilations, runs and more for Environment::metrics. A run then reads the
  // clock twice, which takes longer than everything else that is counted.
  bool metrics = false;
  // Applies to all sessions of the environment. What the environment variable EPHOST_SIGNATURES,
  // the machine's policy (/etc/ephost/policy.yaml) or a session (session.signatures) says can only
  // be stricter: the strictest of them counts.
  SignaturePolicy signatures = SignaturePolicy::kOff;
  // Applies to all plugins of the environment. What the environment variable EPHOST_ISOLATION, the
  // machine's policy, a session (session.isolation) or a plugin's manifest says can only be
  // stricter: the strictest of them counts.
  Isolation isolation = Isolation::kNone;
};

// The versions of the plugin ABI that a plugin speaks: one major, a closed range of minors.
struct AbiVersions {
  uint32_t major = 0;
  uint32_t minor_min = 0;
  uint32_t minor_max = 0;
};

// A kind of device that a plugin can drive; texts that its manifest does not give are empty.
struct DeviceKind {
  std::string type;  // "cpu", "gpu", "npu" or "other"
  std::string vendor;
  std::string id;
};

// A plugin as its manifest describes it; nothing of it need be loaded.
struct InstalledPlugin {
  std::string provider;  // e.g. "CPUExecutionProvider"; empty if the plugin has a layer
  std::string name;      // e.g. "cpu"; the name of a layer
  std::string vendor;
  std::string version;
  std::string manifest;
  std::string library;
  AbiVersions abi;
  std::vector<DeviceKind> devices;
  std::vector<std::string> context_sources;  // the values of EPContext's `source` that it accepts
};

// A directory that was searched for plugins.
struct SearchedDirectory {
  std::string path;
  std::string origin;  // "given", "EPHOST_PLUGIN_PATH", "user", "system", "installed with ephost"
};

// A manifest that was found and cannot be used.
struct SkippedPlugin {
  std::string manifest;
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
  std::vector<std::string> unwritten_models;
};

}  // namespace ephost
