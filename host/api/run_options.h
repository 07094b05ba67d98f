// The options of a run as the host has them.
#pragma once

#include <ephost/c_api.h>
#include <ephost/types/session.h>

#include <optional>

#include "host/api/handles.h"
#include "host/api/key_values.h"

namespace ephost::api {

// Without a record, as in most runs, nothing is made.
class RunOptionsFrom {
 public:
  explicit RunOptionsFrom(const ephost_run_options* options) {
    if (options == nullptr) return;
    const ephost_run_options given = adopt_record(options);
    RunOptions& made = options_.emplace();
    made.cancelled = static_cast<const std::atomic<bool>*>(given.cancelled);
    if (given.timeout_ns != 0) {
      constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
      made.set_timeout(std::chrono::nanoseconds(std::min(given.timeout_ns, kLongest)));
    }
    made.tag = text_of(given.tag);
    made.log_severity_level = to_level(given.log_severity_level);
    made.config_entries = to_list(given.config_entries, given.config_entry_count);
  }
  const RunOptions& operator*() const {
    static const RunOptions none;
    return options_ ? *options_ : none;
  }

 private:
  std::optional<RunOptions> options_;
};

}  // namespace ephost::api
