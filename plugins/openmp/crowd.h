// crowd.h: a watch for other programs that take processors from the threads that OpenMP runs for
// this plugin; it bounds their active waiting meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "plugins/openmp/bounded_waits.h"
#include "plugins/openmp/crowd_meter.h"

namespace ephost_openmp {

class Crowd {
 public:
  // The plugin's; it lives as long as it is held.
  [[nodiscard]] static std::shared_ptr<Crowd> shared();

  Crowd() : meter_(processor_count()) {}

  // Whether others keep processors busy that these threads would use.
  [[nodiscard]] bool is_here() const { return is_here_.load(std::memory_order_relaxed); }

  // What happened while a team ran: for how many nanoseconds, and how often one of this process's
  // threads lost its processor although it had work. Runs count that themselves.
  void add(uint64_t nanoseconds, uint64_t switches, int team);

  // A computation on a team of threads, for as long as it lives.
  class Run {
   public:
    Run(Crowd& crowd, int team) : crowd_(crowd), team_(team), is_counted_(team > 1) {
      if (is_counted_) crowd_.begin();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    // It turns out that the team is smaller.
    void set_team(int team) { team_ = team; }
    ~Run() {
      if (is_counted_) crowd_.end(team_);
    }

   private:
    Crowd& crowd_;
    int team_;
    const bool is_counted_;  // one thread waits for no other
  };

 private:
  struct Counters {
    uint64_t nanoseconds = 0;
    uint64_t switches = 0;  // involuntary, of all threads of the process
  };
  static Counters read_counters();
  static uint64_t now();

  void begin();
  void end(int team);
  void update(uint64_t nanoseconds, uint64_t switches, int team);  // with the mutex held

  std::mutex mutex_;
  CrowdMeter meter_;
  BoundedWaits waits_;
  Counters last_;
  uint64_t ended_ = 0;  // when the last run did
  int least_team_ = 0;  // of more than one thread, since the machine is crowded; 0: none
  uint32_t running_ = 0;
  std::atomic<bool> is_here_{false};
};

}  // namespace ephost_openmp
