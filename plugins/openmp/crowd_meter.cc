#include "plugins/openmp/crowd_meter.h"

#include <algorithm>

namespace ephost_openmp {
namespace {

constexpr uint64_t kMillisecond = 1000000;
// Time that tells a rate of switches from single ones, which kernel threads cause everywhere.
constexpr uint64_t kWindow = 20 * kMillisecond;
constexpr uint64_t kLongWindow = 100 * kMillisecond;
constexpr uint64_t kFewSwitches = 3;
constexpr uint64_t kShortHold = 500 * kMillisecond;
constexpr uint64_t kLongHold = 32000 * kMillisecond;
// A crowd that is back within so many holds is the same one.
constexpr uint64_t kHoldsBetween = 2;

// A thread that shares its processor with a busy one loses it some 150 to 300 times a second; the
// system's own threads interrupt each of the others a few times a second.
double entering_rate(int processors) { return 40 + 5.0 * processors; }
// Threads that sleep at barriers are seldom interrupted, even where others want their processors.
double leaving_rate(int processors) { return 8 + 1.0 * processors; }

}  // namespace

CrowdMeter::CrowdMeter(int processors)
    : entering_(entering_rate(processors)),
      leaving_(leaving_rate(processors)),
      hold_(kShortHold),
      since_left_(kHoldsBetween * kLongHold) {}

void CrowdMeter::add(uint64_t nanoseconds, uint64_t switches) {
  window_ += nanoseconds;
  switches_ += switches;
  if (!is_crowded_) since_left_ = std::min(since_left_ + nanoseconds, kHoldsBetween * kLongHold);
  if (window_ < kWindow) return;
  const double rate = static_cast<double>(switches_) * 1e9 / static_cast<double>(window_);
  const bool is_crowd = switches_ >= kFewSwitches && rate >= entering_;
  if (!is_crowd && window_ < kLongWindow) return;
  if (is_crowded_) {
    leave_after(window_, rate < leaving_);
  } else if (is_crowd) {
    enter();
  }
  window_ = switches_ = 0;
}

// A machine that was left too early is given twice the time: each return costs a slow run.
void CrowdMeter::enter() {
  hold_ = since_left_ < kHoldsBetween * hold_ ? std::min(2 * hold_, kLongHold) : kShortHold;
  is_crowded_ = true;
  calm_ = 0;
}

void CrowdMeter::leave_after(uint64_t nanoseconds, bool is_calm) {
  calm_ = is_calm ? calm_ + nanoseconds : 0;
  if (calm_ < hold_) return;
  is_crowded_ = false;
  since_left_ = 0;
}

}  // namespace ephost_openmp
