// A watch that reports calls of a plugin which do not return in time, while they are running.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "host/base/log.h"
#include "host/layers/validate/finding.h"
#include "host/layers/validate/validate_options.h"

namespace ephost::layers {

class Watchdog {
 public:
  // `log` outlives it. The first call starts its thread.
  Watchdog(const ValidateOptions& options, FindingLog& log)
      : deadline_(options.deadline_milliseconds), abort_after_(options.abort_after), log_(log) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  // No call is under way then.
  ~Watchdog();

  // On the stack, around a call.
  class Call {
   public:
    // Borrows both.
    Call(Watchdog& watchdog, const Subject& subject);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

   private:
    friend class Watchdog;
    Watchdog& watchdog_;
    const Subject& subject_;
    const std::chrono::steady_clock::time_point start_;
    std::optional<Log> log_;       // of its thread, if that is in the scope of one
    uint64_t reported_after_ = 0;  // in deadlines
    std::list<Call*>::iterator place_;
  };

 private:
  void work();
  // What is to be said about one call, without the lock: functions that receive messages may call
  // plugins.
  struct Report {
    Subject subject;
    std::optional<Log> log;
    double seconds = 0;
  };
  [[nodiscard]] std::vector<Report> look();
  void write(const Report& report);

  const std::chrono::milliseconds deadline_;  // 0: no call is watched
  const uint32_t abort_after_;
  FindingLog& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Call*> calls_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace ephost::layers
