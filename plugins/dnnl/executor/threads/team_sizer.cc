#include "plugins/dnnl/executor/threads/team_sizer.h"

#include <algorithm>

namespace ephost_dnnl {
namespace {

// A period has at least so many runs, and nanoseconds.
constexpr uint32_t kRuns = 4;
constexpr double kPeriod = 2e7;
// A trial has to be faster by more than what differs from period to period.
constexpr double kGain = 0.9;
// A trial that takes so much longer ends early.
constexpr double kLoss = 2;
constexpr uint32_t kLongestWait = 64;

// All, all but one, and halves of them.
std::vector<int> sizes_up_to(int threads) {
  std::vector<int> sizes = {threads};
  if (threads > 3) sizes.push_back(threads - 1);
  for (int size = threads / 2; size > 0; size /= 2) sizes.push_back(size);
  return sizes;
}

}  // namespace

TeamSizer::TeamSizer(int threads) : sizes_(sizes_up_to(threads)) {}

void TeamSizer::add(int size, uint64_t nanoseconds) {
  if (size != this->size()) return;
  sum_ += static_cast<double>(nanoseconds);
  ++runs_;
  if (is_trial_ && sum_ > kLoss * kRuns * base_time_ && sum_ > kLoss * runs_ * base_time_) {
    fail_trial();
    return;
  }
  if (runs_ < kRuns || sum_ < kPeriod) return;
  const double mean = sum_ / runs_;
  if (is_trial_) {
    judge_trial(mean);
    return;
  }
  base_time_ = mean;
  start_period();
  if (wait_ > 0) {
    --wait_;
  } else {
    start_trial();
  }
}

void TeamSizer::forbid(int size) {
  const auto found = std::find(sizes_.begin() + 1, sizes_.end(), size);
  if (found == sizes_.end()) return;
  const auto index = static_cast<std::size_t>(found - sizes_.begin());
  is_trial_ = false;
  sizes_.erase(found);
  if (base_ >= index) --base_;
  trial_ = base_;
  start_period();
}

void TeamSizer::judge_trial(double mean) {
  if (mean >= kGain * base_time_) {
    fail_trial();
    return;
  }
  base_ = trial_;
  base_time_ = mean;
  is_trial_ = false;
  failures_ = wait_ = 0;
  start_period();
}

// Trials come one after the other until all sizes have failed, and then less and less often.
void TeamSizer::fail_trial() {
  is_trial_ = false;
  ++failures_;
  const uint32_t rounds = failures_ / static_cast<uint32_t>(sizes_.size() - 1);
  wait_ = rounds == 0 ? 0 : std::min(1U << std::min(rounds, 16U), kLongestWait);
  start_period();
}

// Every other size in turn: fewer threads first, since one step fewer can be slower and two faster.
void TeamSizer::start_trial() {
  if (sizes_.size() == 1) return;
  do {
    trial_ = (trial_ + 1) % sizes_.size();
  } while (trial_ == base_);
  is_trial_ = true;
}

void TeamSizer::start_period() {
  sum_ = 0;
  runs_ = 0;
}

}  // namespace ephost_dnnl
