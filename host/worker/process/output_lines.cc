#include "host/worker/process/output_lines.h"

#include <algorithm>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"

namespace ephost::worker {

std::string OutputLines::add(std::string_view bytes, Clock::time_point now) {
  std::string out;
  if (now - period_begin_ >= kPeriod) {
    period_begin_ = now;
    shown_ = 0;
    report_dropped(out);
  }
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const size_t kept = std::min(part.size(), kMostInLine - line_.size());
    line_ += part.substr(0, kept);
    dropped_ += part.size() - kept;
    if (end == std::string_view::npos) break;
    end_line(out);
    bytes.remove_prefix(end + 1);
  }
  return out;
}

std::string OutputLines::finish() {
  std::string out;
  if (!line_.empty()) end_line(out);
  report_dropped(out);
  return out;
}

void OutputLines::end_line(std::string& out) {
  const std::string shown = formatted("[worker of {}] {}\n", quote(name_), printable_line(line_));
  if (shown_ + shown.size() <= kMostInPeriod) {
    out += shown;
    shown_ += shown.size();
  } else {
    dropped_ += line_.size() + 1;
  }
  line_.clear();
}

void OutputLines::report_dropped(std::string& out) {
  if (dropped_ == 0) return;
  out += formatted("[worker of {}] {} more bytes of its output were dropped\n", quote(name_),
                   dropped_);
  dropped_ = 0;
}

}  // namespace ephost::worker
