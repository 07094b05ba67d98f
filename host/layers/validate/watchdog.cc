#include "host/layers/validate/watchdog.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "host/base/format.h"
#include "host/base/threads/signals.h"

namespace ephost::layers {
namespace {

using std::chrono::milliseconds;

}  // namespace

Watchdog::Call::Call(Watchdog& watchdog, const Subject& subject)
    : watchdog_(watchdog), subject_(subject), start_(std::chrono::steady_clock::now()) {
  if (watchdog.deadline_.count() == 0) return;
  if (const Log* const current = LogScope::current()) log_ = *current;
  const std::lock_guard lock(watchdog.mutex_);
  place_ = watchdog.calls_.insert(watchdog.calls_.end(), this);
  if (!watchdog.thread_.joinable()) {
    const SignalsBlocked blocked;
    try {
      watchdog.thread_ = std::thread([&watchdog] { watchdog.work(); });
    } catch (const std::exception&) {  // then nothing is reported
    }
  }
  if (watchdog.calls_.size() == 1) watchdog.changed_.notify_one();
}

Watchdog::Call::~Call() {
  if (watchdog_.deadline_.count() == 0) return;
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.calls_.erase(place_);
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Watchdog::work() {
  const milliseconds pause = std::clamp(deadline_ / 4, milliseconds(5), milliseconds(1000));
  std::unique_lock lock(mutex_);
  while (!has_ended_) {
    if (calls_.empty()) {
      changed_.wait(lock, [&] { return has_ended_ || !calls_.empty(); });
      continue;
    }
    changed_.wait_for(lock, pause, [&] { return has_ended_; });
    const std::vector<Report> reports = look();
    if (reports.empty()) continue;
    lock.unlock();
    for (const Report& report : reports) write(report);
    lock.lock();
  }
}

std::vector<Watchdog::Report> Watchdog::look() {
  std::vector<Report> reports;
  const auto now = std::chrono::steady_clock::now();
  for (Call* const call : calls_) {
    const auto passed = static_cast<uint64_t>((now - call->start_) / deadline_);
    if (abort_after_ != 0 && passed >= abort_after_) std::abort();
    if (passed < std::max<uint64_t>(2 * call->reported_after_, 1)) continue;
    call->reported_after_ = passed;
    const double seconds =
        static_cast<double>(deadline_.count()) * static_cast<double>(passed) / 1000;
    reports.push_back({call->subject_, call->log_, seconds});
  }
  return reports;
}

void Watchdog::write(const Report& report) {
  const LogScope scope(report.log ? &*report.log : nullptr);
  log_.add(report.subject, {40, formatted("has not returned for {} s", report.seconds),
                            "find out what it waits for, or raise session.validate.deadline"});
}

}  // namespace ephost::layers
