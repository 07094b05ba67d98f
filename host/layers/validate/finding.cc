#include "host/layers/validate/finding.h"

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plugin/calls/call_scope.h"

namespace ephost::layers {

void FindingLog::remember_log() {
  const Log* const current = LogScope::current();
  const std::lock_guard lock(mutex_);
  if (current != nullptr) remembered_ = *current;
}

void FindingLog::write(const std::string& line) {
  if (LogScope::current() != nullptr) return log_error(line);
  const Log log = [&] {
    const std::lock_guard lock(mutex_);
    return remembered_;
  }();
  const LogScope scope(log);
  log_error(line);
}

std::string FindingLog::name(const Subject& subject) const {
  std::string text = formatted("{} of {}", subject.slot, provider_);
  if (!subject.computation.empty()) text += " of " + quote(subject.computation);
  return text;
}

std::string FindingLog::add(const Subject& subject, const Finding& finding) {
  const std::string rule =
      finding.rule == 0 ? std::string("\"Lifecycles\"") : formatted("rule {}", finding.rule);
  std::string line =
      formatted("validation: {} {} ({}); {}", name(subject), finding.what, rule, finding.advice);
  ++count_;
  write(line);
  return line;
}

void FindingLog::add_to_call(const Subject& subject, const Finding& finding) noexcept {
  try {
    plugin::fail_current_call(add(subject, finding));
  } catch (...) {  // out of memory: the finding is lost
  }
}

std::string FindingLog::add_all(const Subject& subject, const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string line = add(subject, finding);
    text += text.empty() ? line : "; " + line;
  }
  return text;
}

void FindingLog::summarize() {
  const uint64_t count = count_.exchange(0);
  if (count == 0) return;
  write(formatted("validation: {} {} about {}", count, count == 1 ? "finding" : "findings",
                  provider_));
}

}  // namespace ephost::layers
