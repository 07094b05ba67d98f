// The state of the host's process that a plugin must not change.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// Each thing that is compared, with its present value as text.
class ProcessState {
 public:
  // The settings of this process and thread: signal handlers and mask, floating-point control,
  // locale, working directory, file mode mask, environment, standard streams.
  [[nodiscard]] static ProcessState settings();
  // The same with what a pure function does not change either: threads, child processes,
  // descriptors and the files of the working directory.
  [[nodiscard]] static ProcessState everything();

  // "the working directory: \"/\" before and \"/tmp\" after".
  [[nodiscard]] std::vector<std::string> differences(const ProcessState& after) const;

 private:
  std::map<std::string, std::string> values_;
};

// Finds each difference to the present state of the same kind. `during` completes "... during
// create".
void judge_state(const ProcessState& before, const ProcessState& after, const std::string& during,
                 Report& report);

// Counts that grow where something leaks.
struct ResourceCounts {
  size_t descriptors = 0;
  size_t threads = 0;
  size_t mappings = 0;
  size_t resident_bytes = 0;
  size_t allocated_bytes = 0;  // of malloc, which also sees what is too small to fill a page

  [[nodiscard]] static ResourceCounts now();
};

// The counts after `rounds` more calls of `round`, again and again: a growth that each repetition
// shows is a leak. `what` names a round, e.g. "loading the library".
void judge_growth(int rounds, const std::string& what, Report& report,
                  const std::function<void()>& round);

}  // namespace ephost::conformance
