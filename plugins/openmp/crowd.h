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
  // The plugin's; it lives as long as it is held. One that is made soon after the last one ended
  // knows what that knew: sessions may be too short to find it out.
  [[nodiscard]] static std::shared_ptr<Crowd> shared();

  Crowd() : Crowd(CrowdMeter(processor_count())) {}
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  // Whether others keep processors busy that these threads would use.
  [[nodiscard]] bool is_here() const { return is_here_.load(std::memory_order_relaxed); }

  // What happened while a team ran: for how many nanoseconds, and how often one of this process's
  // threads lost its processor although it had work. Runs count that themselves.
  void add(uint64_t nanoseconds, uint64_t switches, int team);

  // A computation on a team of threads, for as long as it lives.
  class Run {
   public:
    Run(Crowd& crowd, int team) : crowd_(crowd), team_(team), is_counted_(team > 1) {
      if (is_counted_) crowd_.begin(team);
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

  // Work on a team of threads that gains nothing from active waiting, such as compiling, for as
  // long as it lives. Waits are bounded meanwhile, unless computations run that would be slower
  // then.
  class Unhurried {
   public:
    Unhurried(Crowd& crowd, int team) : crowd_(crowd), is_counted_(team > 1) {
      if (is_counted_) crowd_.begin_unhurried(team);
    }
    Unhurried(const Unhurried&) = delete;
    Unhurried& operator=(const Unhurried&) = delete;
    ~Unhurried() {
      if (is_counted_) crowd_.end_unhurried();
    }

   private:
    Crowd& crowd_;
    const bool is_counted_;
  };

 private:
  struct Counters {
    uint64_t nanoseconds = 0;
    uint64_t switches = 0;  // involuntary, of all threads of the process
  };
  static Counters read_counters();
  static uint64_t now();

  explicit Crowd(const CrowdMeter& meter);

  void begin(int team);
  void end(int team);
  void begin_unhurried(int team);
  void end_unhurried();
  // With the mutex held.
  void update(uint64_t nanoseconds, uint64_t switches, int team);
  void apply_bounds();

  std::mutex mutex_;
  CrowdMeter meter_;
  BoundedWaits waits_;
  Counters last_;
  uint64_t ended_ = 0;      // when the last run did
  int least_team_ = 0;      // of more than one thread, since the machine is crowded; 0: none
  int unhurried_team_ = 0;  // whose waits are bounded; 0: none
  uint32_t running_ = 0;
  uint32_t unhurried_ = 0;
  std::atomic<bool> is_here_{false};
};

}  // namespace ephost_openmp
