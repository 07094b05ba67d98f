// Plugins that crashed or hung so often in so long are left alone until that time is over, or until
// their files change. Called by the registry before it loads a plugin, and by whatever runs plugins
// in workers when one of them dies. What happens in the host's own process is not recorded: a crash
// there ends the process, and the application sees by itself which plugin it was
// (host/plugin/calls/crash_handler.h).
//
// Records that cannot be read or written never fail anything; a warning says so.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "host/base/files/failure_records.h"
#include "host/manifest/search.h"

namespace ephost::plugin {

// Safe from any thread.
class Quarantine {
 public:
  struct Policy {
    uint32_t failures = 3;  // 0: no plugin is ever quarantined, and nothing is recorded
    std::chrono::seconds period{600};
  };

  // With the file of this user (FailureRecords::default_file) and the policy of the environment.
  Quarantine();
  Quarantine(std::filesystem::path file, Policy policy);

  // What the environment variable EPHOST_QUARANTINE says: "off", or a number of failures and of
  // seconds: "3/600". INVALID_ARGUMENT for another text.
  [[nodiscard]] static Result<Policy> parse_policy(std::string_view text);

  // EP_FAIL while the plugin is quarantined: how often it failed, how it did last, until when it is
  // left alone, and what to do.
  [[nodiscard]] Status check(const manifest::FoundPlugin& plugin) const;

  // The plugin has just crashed or hung. `what` completes the sentence "the plugin ...":
  // "died of SIGSEGV in compute". Waits for other processes
  // that record something, for five seconds at the most.
  void record(const manifest::FoundPlugin& plugin, std::string_view what) const noexcept;

 private:
  FailureRecords records_;
  Policy policy_;
};

}  // namespace ephost::plugin
