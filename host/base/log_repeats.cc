#include "host/base/log_repeats.h"

#include <algorithm>

namespace ephost {
namespace {

bool is_same(const LogLine& a, const LogLine& b) {
  return a.severity == b.severity && a.text == b.text && a.category == b.category && a.id == b.id;
}

}  // namespace

void LogRepeats::add(const LogLine& line, Clock::time_point now, const Write& write) {
  const size_t bytes = line.text.size() + line.category.size() + line.id.size();
  // A log that is set to information shows all of it.
  if (line.severity < LoggingLevel::kWarning || bytes > kMostBytes) return write(line, 0);
  const auto known =
      std::ranges::find_if(seen_, [&](const Seen& seen) { return is_same(seen.line, line); });
  if (known != seen_.end()) {
    known->last = now;
    if (now - known->written < kPeriod) {
      ++known->repeated;
      return;
    }
    write_count(*known, write);
    known->repeated = 0;
    known->written = now;
    return write(line, 0);
  }
  if (seen_.size() == kMostLines) {
    const auto oldest = std::ranges::min_element(seen_, {}, &Seen::last);
    write_count(*oldest, write);
    seen_.erase(oldest);
  }
  seen_.push_back({.line = line, .repeated = 0, .written = now, .last = now});
  write(line, 0);
}

void LogRepeats::finish(const Write& write) {
  for (const Seen& seen : seen_) write_count(seen, write);
  seen_.clear();
}

void LogRepeats::write_count(const Seen& seen, const Write& write) {
  if (seen.repeated > 0) write(seen.line, seen.repeated);
}

}  // namespace ephost
