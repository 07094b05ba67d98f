// A filter that keeps equal warnings and errors from filling the log: the first one is written,
// those that follow are counted, and the count is written in the end. Needs no more memory however
// many messages there are. Not safe for several threads at once; log.cc uses it under its lock.
#pragma once

#include <ephost/types/logging.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ephost {

struct LogLine {
  LoggingLevel severity = LoggingLevel::kWarning;
  std::string category;
  std::string id;
  std::string place;  // two lines may be equal and come from different places
  std::string text;
};

class LogRepeats {
 public:
  using Clock = std::chrono::steady_clock;
  // Writes the line itself (0), or how often it was repeated since.
  using Write = std::function<void(const LogLine& line, uint64_t repeated)>;

  static constexpr size_t kMostLines = 64;
  // Longer ones are written each time.
  static constexpr size_t kMostBytes = 4096;
  // A line that comes again after this time is written once more.
  static constexpr Clock::duration kPeriod = std::chrono::minutes(1);

  void add(const LogLine& line, Clock::time_point now, const Write& write);

  // Writes the counts that were not written yet, and forgets all lines.
  void finish(const Write& write);

 private:
  struct Seen {
    LogLine line;
    uint64_t repeated = 0;
    Clock::time_point written;
    Clock::time_point last;
  };
  static void write_count(const Seen& seen, const Write& write);

  std::vector<Seen> seen_;
};

}  // namespace ephost
