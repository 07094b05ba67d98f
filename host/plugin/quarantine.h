// Plugins that crashed or hung so often in so long are left alone until that time is over, or until
// their files change. Called by the registry before it loads a plugin, and by whatever runs plugins
// in workers when one of them dies. In the host's own process, the crash handler records what ends
// it (host/plugin/calls/crash_records.h); a plugin that hangs there can only be warned of.
//
// Records that cannot be read or written never fail anything; a warning says so.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/files/failure_records.h"
#include "host/manifest/search.h"
#include "host/plugin/calls/crash_records.h"
#include "host/trust/quarantine_policy.h"

namespace ephost::plugin {

// What becomes of a plugin that is quarantined.
enum class Quarantined {
  kRefused,
  kUsed,  // with a warning: nothing else runs what it runs
};

// Safe from any thread.
class Quarantine {
 public:
  // A quarantine of no plugin, without records.
  Quarantine() : Quarantine({}, {.failures = 0}) {}
  // Sessions and commands have the file of this user (FailureRecords::default_file) and the policy
  // of the process (trust::quarantine_of_process).
  Quarantine(std::filesystem::path file, trust::QuarantinePolicy policy);

  // EP_FAIL while the plugin is quarantined: how often it failed, how and in which program it did
  // last, until when it is left alone, and what to do.
  [[nodiscard]] Status check(const manifest::FoundPlugin& plugin,
                             Quarantined use = Quarantined::kRefused) const;

  // The plugin has just crashed or hung. `what` completes the sentence "the plugin ...":
  // "died of SIGSEGV in compute". Waits for other processes
  // that record something, for five seconds at the most.
  void record(const manifest::FoundPlugin& plugin, std::string_view what) const noexcept;

  // The plugin is about to run in this process: crashes in its calls are recorded as long as the
  // result lives. Null where nothing is recorded.
  [[nodiscard]] std::unique_ptr<const CrashRecord> record_crashes(
      const manifest::FoundPlugin& plugin) const;

 private:
  FailureRecords records_;
  trust::QuarantinePolicy policy_;
};

}  // namespace ephost::plugin
