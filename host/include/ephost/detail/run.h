// The options of a run for the C API, made without allocating memory in the usual case.
#pragma once

#include <ephost/c_api.h>
#include <ephost/detail/callbacks.h>
#include <ephost/types/session.h>

#include <chrono>
#include <cstdint>

namespace ephost::detail {

// The options of a run; no record where nothing is set.
class RunOptionsRecord {
 public:
  explicit RunOptionsRecord(const RunOptions& options) : entries_(options.config_entries) {
    is_set_ = options.cancelled != nullptr || options.deadline || !options.tag.empty() ||
              !options.config_entries.empty() || options.log_severity_level;
    if (!is_set_) return;
    record_.struct_size = sizeof(record_);
    record_.cancelled = options.cancelled;
    if (options.deadline) {
      const auto left = *options.deadline - std::chrono::steady_clock::now();
      const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
      record_.timeout_ns = ns > 0 ? static_cast<uint64_t>(ns) : 1;
    }
    record_.tag = options.tag.c_str();
    record_.log_severity_level = stated(options.log_severity_level);
    record_.config_entries = entries_.data();
    record_.config_entry_count = entries_.size();
  }
  [[nodiscard]] const ephost_run_options* get() const { return is_set_ ? &record_ : nullptr; }

 private:
  bool is_set_;
  ephost_run_options record_ = {};
  OptionViews entries_;
};

}  // namespace ephost::detail
