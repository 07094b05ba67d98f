// team_sizer.h: a search for the number of threads on which a computation is fastest while other
// programs keep processors busy. A division of work among fixed threads waits for the slowest, so
// that fewer can be faster. Pure: it is told how long runs took, and reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ephost_dnnl {

class TeamSizer {
 public:
  // At most that many threads, with which it begins.
  explicit TeamSizer(int threads);

  // The number of threads of the next run.
  [[nodiscard]] int size() const { return sizes_[is_trial_ ? trial_ : base_]; }
  // A run on that many threads took so long. What was not asked for last is ignored.
  void add(int size, uint64_t nanoseconds);
  // A run cannot have that many threads. Not for the greatest number.
  void forbid(int size);

 private:
  void judge_trial(double mean);
  void fail_trial();
  void start_trial();
  void start_period();

  std::vector<int> sizes_;  // from the greatest to 1
  std::size_t base_ = 0;    // the best one known
  std::size_t trial_ = 0;   // the last one tried
  bool is_trial_ = false;
  double base_time_ = 0;  // of a run, lately
  double sum_ = 0;        // of this period's runs
  uint32_t runs_ = 0;
  uint32_t wait_ = 0;      // periods until the next trial
  uint32_t failures_ = 0;  // trials since the last success
};

}  // namespace ephost_dnnl
