// The output of a worker, made safe to show: whole lines without control characters, each with the
// name of the plugin, and not too many. Private to this module.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace ephost::worker {

class OutputLines {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr size_t kMostInLine = 2000;                // bytes; the rest of a line is dropped
  static constexpr size_t kMostInPeriod = size_t{64} << 10;  // what is more is dropped
  static constexpr std::chrono::seconds kPeriod{10};

  explicit OutputLines(std::string name) : name_(std::move(name)) {}

  // The lines that `bytes` complete, to be shown as they are; often empty.
  [[nodiscard]] std::string add(std::string_view bytes, Clock::time_point now);
  // What is left when the worker has ended.
  [[nodiscard]] std::string finish();
  // `lines` could not be shown.
  void drop(std::string_view lines) { dropped_ += lines.size(); }

 private:
  void end_line(std::string& out);
  void report_dropped(std::string& out);

  std::string name_;
  std::string line_;
  Clock::time_point period_begin_{};
  size_t shown_ = 0;    // bytes in this period
  size_t dropped_ = 0;  // bytes since it was last said
};

}  // namespace ephost::worker
