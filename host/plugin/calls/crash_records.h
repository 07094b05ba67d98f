// Records of the failures by which a plugin ends the process in which it runs. The crash handler
// (crash_handler.h) and the exit guard (exit_guard.h) say when.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/base/files/prepared_failure.h"
#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin {

// As long as it lives, a crash in a call of its plugin is recorded. Created and destroyed by any
// thread.
class CrashRecord {
 public:
  // Calls of the plugin have one of these as CallSite::provider.
  CrashRecord(std::vector<std::string> providers, PreparedFailure failure);
  CrashRecord(const CrashRecord&) = delete;
  CrashRecord& operator=(const CrashRecord&) = delete;
  ~CrashRecord();

 private:
  friend void record_crash(const CallSite& site, std::string_view what) noexcept;

  const std::vector<std::string> providers_;
  const PreparedFailure failure_;
};

// The plugin of this call is about to end the process. `what` completes the sentence "the plugin
// ...". Records nothing where several versions of the plugin are loaded, as any of them may be the
// one. May be called by signal handlers.
void record_crash(const CallSite& site, std::string_view what) noexcept;

}  // namespace ephost::plugin
