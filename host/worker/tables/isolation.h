// The isolation of a plugin from the host, and its limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/manifest/isolation.h"
#include "host/manifest/search.h"
#include "host/worker/process/limits.h"
#include "host/worker/process/sandbox.h"
#include "host/worker/tables/worker_health.h"

namespace ephost::worker {

struct Ending;

// Longest durations of calls; zero: none.
struct CallLimits {
  std::chrono::nanoseconds probe = std::chrono::seconds(30);  // loading and asking for devices
  std::chrono::nanoseconds compile{0};  // anything between creating a provider and running it
  std::chrono::nanoseconds run{0};      // one call of compute
  // What a message calls them; empty: by the session's entries.
  std::string_view name = {};
};

struct IsolationOptions {
  manifest::Isolation level = manifest::Isolation::kNone;
  std::filesystem::path program;  // ephost-worker; empty: the one that belongs to this host
  CallLimits calls;
  Limits limits;
  // In a sandbox, beside the folders of the manifest and the library, which are readable.
  SandboxRules files;
  // Whether libraries of the plugin's folder that its manifest does not list are refused, which the
  // signature policy `require` asks for.
  bool listed_only = false;
  // A worker of the plugin has died, or was killed because it took too long or answered nonsense
  // (worker_process.h describes such an ending). Called by a thread of the host; empty: it is not
  // reported.
  std::function<void(const manifest::FoundPlugin&, const Ending&)> on_failure;
  // Identifies what `on_failure` does: only sessions with the same key share a plugin.
  std::string failure_key;
  // The health of all workers that are started with these options, which then serve no other owner;
  // null: it is not recorded.
  std::shared_ptr<WorkerHealth> health = nullptr;
};

}  // namespace ephost::worker
