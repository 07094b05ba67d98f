// The findings of the layer "validate", and their log.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/log.h"

namespace ephost::layers {

// What is wrong, in words that follow the names of slot, provider and node, and what to do about
// it.
struct Finding {
  int rule = 0;  // of ABI.md; 0: its section "Lifecycles"
  std::string what;
  std::string advice;
};

// What to do about a finding that is not the plugin's fault.
inline constexpr std::string_view kReportTheHost = "this is a defect of the host: report it";

// The call that a finding is about.
struct Subject {
  std::string_view slot;    // as the ABI's headers name it
  std::string computation;  // its name; empty: the provider itself
};

// Writes the findings about one provider to the log, as errors that begin with "validation: ", and
// counts them. May be used by any thread.
class FindingLog {
 public:
  explicit FindingLog(std::string_view provider) : provider_(provider) {}

  // Threads that are in the scope of no log (the plugin's own, and those that destroy a session)
  // write to the one that the calling thread is in now.
  void remember_log();
  [[nodiscard]] const std::string& provider() const { return provider_; }
  // "compute of AcmeExecutionProvider", "compute of AcmeExecutionProvider of "conv1"".
  [[nodiscard]] std::string name(const Subject& subject) const;
  // Returns the line.
  std::string add(const Subject& subject, const Finding& finding);
  // Also fails the call that the thread is in, where there is one.
  void add_to_call(const Subject& subject, const Finding& finding) noexcept;
  // Returns the lines as one text.
  std::string add_all(const Subject& subject, const std::vector<Finding>& findings);
  // Writes how many there were since the last time, if there were any.
  void summarize();

 private:
  void write(const std::string& line);

  const std::string provider_;
  std::atomic<uint64_t> count_{0};
  std::mutex mutex_;
  Log remembered_;
};

}  // namespace ephost::layers
