// crowd_meter.h: a meter that decides from counters whether other programs take processors from
// this process's threads. Pure: it reads no clock and no counter itself.
#pragma once

#include <cstdint>

namespace ephost_openmp {

class CrowdMeter {
 public:
  // A machine of that many processors.
  explicit CrowdMeter(int processors);

  // What happened while computations ran: for how many nanoseconds, and how often the system took
  // a processor from a thread that had work for it (involuntary context switches of the process).
  void add(uint64_t nanoseconds, uint64_t switches);

  // There is reason to believe that the machine is crowded, before anything has run.
  void suspect() { enter(); }

  [[nodiscard]] bool is_crowded() const { return is_crowded_; }

 private:
  void enter();
  void leave_after(uint64_t nanoseconds, bool is_calm);

  double entering_, leaving_;  // switches in a second
  bool is_crowded_ = false;
  uint64_t window_ = 0;  // nanoseconds, with the switches in them
  uint64_t switches_ = 0;
  uint64_t calm_ = 0;    // nanoseconds with few switches, since the last one with many
  uint64_t hold_;        // how long that must last until the machine counts as quiet
  uint64_t since_left_;  // nanoseconds since it was last crowded
};

}  // namespace ephost_openmp
